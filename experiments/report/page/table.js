// A table that a click on a column sorts. It shows the rows that contain all words of a filter.
import { add, el } from "./dom.js";

const MOST_ROWS = 500;

/** A column: {title, value(row), show(value, row) -> text or node, left, wide, screen}. */
export class Table {
  constructor(id, label, columns, rows, empty = "No rows.") {
    Object.assign(this, { columns, empty, words: [], picks: new Map(), sorted: null, all: false, listeners: [] });
    this.rows = rows.map((row, order) => ({ row, order, text: null }));
    this.head = el("tr", {}, columns.map((column, i) => this.header(column, i)));
    this.body = el("tbody");
    this.more = el("div", { class: "controls" });
    this.node = el("div", {}, el("div", { class: `scroll ${id}`, tabindex: 0, role: "region", "aria-label": label },
      el("table", { id }, el("thead", {}, this.head), this.body)), this.more);
    this.fill();
    // A printed page cannot be expanded.
    window.addEventListener("beforeprint", () => { if (this.shown > MOST_ROWS) this.showAll(); });
  }

  showAll() { this.all = true; this.fill(); }

  header(column, i) {
    const sort = () => this.sortBy(i);
    const shape = [column.left ? "text" : "", column.screen ? "when-screen" : "", column.value ? "sortable" : ""].join(" ");
    return el("th", { scope: "col", class: shape },
      column.value ? el("button", { type: "button", click: sort }, column.title) : column.title);
  }

  sortBy(i) {
    const descending = this.sorted?.column === i && !this.sorted.descending;
    this.sorted = { column: i, descending };
    [...this.head.children].forEach((th, k) => {
      if (k === i) th.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    });
    this.fill();
  }

  /** Shows the rows that contain every word, in any column. */
  filter(query) { this.words = query.toLowerCase().split(/\s+/).filter(Boolean); this.fill(); }
  /** Shows the rows that pass `test`; null removes the condition. */
  pick(name, test) { if (test) this.picks.set(name, test); else this.picks.delete(name); this.fill(); }
  onChange(listener) { this.listeners.push(listener); listener(this.shown, this.rows.length); }

  matches(entry) {
    for (const test of this.picks.values()) if (!test(entry.row)) return false;
    if (this.words.length === 0) return true;
    entry.text ??= this.columns.map((column) => {
      const shown = column.show ? column.show(column.value?.(entry.row), entry.row) : column.value(entry.row);
      return shown instanceof Node ? shown.textContent : shown;
    }).join(" ").toLowerCase();
    return this.words.every((word) => entry.text.includes(word));
  }

  /** Sorts the entries; absent values come last in both directions. */
  inOrder(entries) {
    if (!this.sorted) return entries;
    const { column, descending } = this.sorted;
    const value = (entry) => this.columns[column].value(entry.row);
    const absent = (v) => v === null || v === undefined || v === "";
    return entries.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (absent(x) || absent(y)) return absent(x) - absent(y) || a.order - b.order;
      const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
      return (descending ? -order : order) || a.order - b.order;
    });
  }

  fill() {
    const entries = this.inOrder(this.rows.filter((entry) => this.matches(entry)));
    this.shown = entries.length;
    const visible = this.all ? entries : entries.slice(0, MOST_ROWS);
    this.body.replaceChildren(...visible.map((entry) => this.line(entry.row)));
    if (entries.length === 0) this.body.append(el("tr", {}, el("td", { colspan: this.columns.length, class: "text" }, this.empty)));
    this.more.replaceChildren();
    if (visible.length < entries.length) {
      add(this.more, el("button", { type: "button", click: () => this.showAll() }, `Show all ${entries.length} rows`));
    }
    for (const listener of this.listeners) listener(this.shown, this.rows.length);
  }

  line(row) {
    return el("tr", {}, this.columns.map((column) => {
      const value = column.value?.(row);
      const shape = [column.left ? "text" : "", column.wide ? "long" : "", column.screen ? "when-screen" : ""].join(" ").trim();
      return el("td", { class: shape || null }, column.show ? column.show(value, row) : value);
    }));
  }
}
