// A chart is data for Plotly. It is drawn when it comes near the window, and again when the view, the theme or the
// width changes. Every text goes through `plain`, because Plotly would interpret HTML tags in it.
import { el } from "./dom.js";

export function plain(value) {
  return String(value).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const CONFIG = {
  responsive: true, displaylogo: false, scrollZoom: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "toggleSpikelines", "sendDataToCloud"],
};

function axis(own, narrow) {
  return { gridcolor: css("--line"), linecolor: css("--line"), zerolinecolor: css("--line"), automargin: true,
           fixedrange: narrow, ...own };
}

function layoutOf(own, width, right) {
  const narrow = width < 560;
  const { xaxis = {}, yaxis = {}, ...rest } = own;
  for (const name of Object.keys(rest).filter((one) => /^yaxis\d/.test(one))) rest[name] = axis(rest[name], narrow);
  return {
    font: { family: css("--font"), size: narrow ? 11 : 13, color: css("--ink") },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: narrow ? 44 : 64, r: right ?? (narrow ? 8 : 24), t: 24, b: 48 },
    legend: { orientation: "h", y: -0.22, yanchor: "top", x: 0, font: { size: narrow ? 10 : 12 }, traceorder: "normal" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--soft"), activecolor: css("--accent") },
    hoverlabel: { bgcolor: css("--panel"), bordercolor: css("--line"), font: { color: css("--ink"), family: css("--font") } },
    hovermode: "closest", barmode: "stack", bargap: 0.25, dragmode: narrow ? false : "zoom",
    xaxis: axis(xaxis, narrow), yaxis: axis(yaxis, narrow), ...rest,
  };
}

const LEGEND_ROW = 21; // pixels

/** How many rows the legend needs: as many entries stand beside each other as the width allows. */
function legendRows(data, layout, width) {
  const names = data.filter((one) => one.showlegend !== false).map((one) => one.name ?? "");
  if (names.length === 0 || (data.length === 1 && data[0].showlegend === undefined)) return 0;
  const entry = 46 + Math.max(...names.map((name) => name.length)) * layout.legend.font.size * 0.56;
  const room = Math.max(1, width - layout.margin.l - layout.margin.r);
  return Math.ceil(names.length / Math.max(1, Math.floor(room / entry)));
}

/** Makes room for the legend below the title of the axis, and `below` pixels for long tick labels. So nothing overlaps. */
function placeLegend(layout, height, rows, below) {
  layout.margin.b = 74 + below + rows * LEGEND_ROW;
  layout.legend.y = -(66 + below) / Math.max(height - layout.margin.t - 74, 100);
  return { ...layout, height: height + below + rows * LEGEND_ROW };
}

const all = [];
let observer = null;

export class Chart {
  /** `build(width)` returns {data, layout, height, margin, below}, or a text that says why there is nothing to draw. */
  constructor(id, label, build) {
    this.build = build;
    this.near = false;
    this.node = el("div", { class: "chart waiting", id, role: "figure", "aria-label": label });
    all.push(this);
  }

  draw() {
    if (!this.near || !window.Plotly) return;
    const width = this.node.clientWidth || 700;
    const picture = this.build(width);
    this.node.classList.remove("waiting");
    if (typeof picture === "string") return this.say(picture);
    if (this.said) { this.node.replaceChildren(); this.said = false; }
    const own = layoutOf(picture.layout, width, picture.margin);
    const layout = placeLegend(own, picture.height ?? 400, legendRows(picture.data, own, width), picture.below ?? 0);
    this.node.style.minHeight = `${layout.height}px`;
    return window.Plotly.react(this.node, picture.data, layout, CONFIG);
  }

  say(text) {
    if (this.node.data) window.Plotly.purge(this.node);
    this.said = true;
    this.node.style.minHeight = "0";
    this.node.replaceChildren(el("p", { class: "empty" }, text));
  }
}

/** The colour of text, in the page's theme. */
export function ink() { return css("--ink"); }

export function drawAll() { for (const chart of all) chart.draw(); }

/** Draws the charts that `entries` report as near the window. Returns a promise for all of them. */
function drawNear(entries) {
  const drawn = [];
  for (const entry of entries) {
    const chart = all.find((one) => one.node === entry.target);
    if (!entry.isIntersecting || chart.near) continue;
    chart.near = true;
    observer.unobserve(chart.node);
    drawn.push(chart.draw());
  }
  return Promise.all(drawn);
}

function drawWhenNear() {
  return new Promise((resolve) => {
    // The observer's first call reports the position of every chart.
    observer = new IntersectionObserver((entries) => drawNear(entries).then(resolve), { rootMargin: "400px" });
    for (const chart of all) observer.observe(chart.node);
    if (all.length === 0) resolve();
  });
}

/** Starts drawing; Plotly must be loaded. Returns a promise for the charts that are near the window now. */
export function startDrawing() {
  const first = drawWhenNear();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  window.matchMedia("(max-width: 40rem)").addEventListener("change", drawAll);
  // A print shows every chart, in dark colours on white.
  window.addEventListener("beforeprint", () => {
    for (const chart of all) chart.near = true;
    drawAll();
  });
  window.addEventListener("afterprint", drawAll);
  return first;
}
