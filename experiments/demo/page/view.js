// A picture of one run: a still layer that is redrawn when its key changes, and a moving layer for each frame.
import { el, saveText } from "./dom.js";
import { themeNow } from "./look.js";
import { CanvasSurface, SvgSurface } from "./surface.js";

class Layer {
  constructor() {
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.context = this.canvas.getContext("2d");
    this.surface = new CanvasSurface(this.context);
  }

  /** Empties the layer, and gives it `width` x `height` CSS pixels. */
  clear(width, height) {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
  }
}

export class View {
  /**
   * `picture` has: name, title, hint, heightOf(width, theme), keyOf(frame), still(surface, frame), moving(surface, frame), label(frame);
   * and, where something can be clicked, hit(x, y, frame), which gives {row} of a chunk, {time}, or null;
   * and tip(x, y, frame), the words for a pointer that rests there.
   */
  constructor(run, picture, onHit) {
    this.run = run;
    this.picture = picture;
    this.key = null;
    this.shown = true;
    this.layers = [new Layer(), new Layer()];
    this.box = el("div", { class: "picture", role: "img", "aria-label": picture.title }, this.layers.map((layer) => layer.canvas));
    if (picture.hit) this.box.addEventListener("click", (event) => this.clicked(event, onHit));
    if (picture.tip) this.listenToPointer();
    const save = el("button", { type: "button", class: "quiet", "aria-label": `Save ${picture.title} of ${run.title} as SVG`, click: () => this.save() }, "SVG");
    this.node = el("section", { class: `view ${picture.name}` }, el("div", { class: "view-head" }, el("h3", {}, picture.title), el("span", { class: "hint" }, picture.hint), save), this.box);
  }

  clicked(event, onHit) {
    const place = this.box.getBoundingClientRect();
    if (this.last) onHit(this.picture.hit(event.clientX - place.left, event.clientY - place.top, this.last));
  }

  listenToPointer() {
    const tip = el("div", { class: "tip", "aria-hidden": "true", hidden: true });
    this.box.append(tip);
    this.box.addEventListener("pointerleave", () => { tip.hidden = true; });
    this.box.addEventListener("pointermove", (event) => {
      const place = this.box.getBoundingClientRect();
      const [x, y] = [event.clientX - place.left, event.clientY - place.top];
      const words = event.pointerType === "mouse" && this.last ? this.picture.tip(x, y, this.last) : "";
      tip.hidden = !words;
      if (!words) return;
      tip.textContent = words;
      tip.style.left = `${Math.max(0, Math.min(x + 12, place.width - tip.offsetWidth))}px`;
      tip.style.top = `${y + 18 + tip.offsetHeight > place.height ? Math.max(0, y - tip.offsetHeight - 8) : y + 18}px`;
    });
  }

  frameOf(state) {
    const width = Math.max(240, Math.floor(this.box.clientWidth));
    const theme = themeNow();
    return { ...state, run: this.run, time: state.timeOf(this.run), width, height: this.picture.heightOf(width, theme), theme };
  }

  draw(state) {
    // At rest even pictures outside of the window are drawn, so that their labels are right for screen readers.
    if (!this.shown && state.playing) return;
    const frame = this.frameOf(state);
    this.last = frame;
    const key = `${frame.width} ${frame.height} ${state.look} ${this.picture.keyOf(frame)}`;
    if (key !== this.key) {
      this.key = key;
      this.box.style.height = `${frame.height}px`;
      this.layers[0].clear(frame.width, frame.height);
      this.picture.still(this.layers[0].surface, frame);
    }
    this.layers[1].clear(frame.width, frame.height);
    this.picture.moving(this.layers[1].surface, frame);
    if (!state.playing) this.box.setAttribute("aria-label", this.picture.label(frame));
  }

  /** The picture as it is now, as an SVG document. */
  svg() {
    const frame = this.last;
    const surface = new SvgSurface();
    this.picture.still(surface, frame);
    this.picture.moving(surface, frame);
    return surface.document(frame.width, frame.height, frame.theme, `${this.run.title}: ${this.picture.title.toLowerCase()}, at ${(frame.time / 1000).toFixed(3)} ms`);
  }

  save() { saveText(`ringside-${this.run.strategy || "run"}-${this.picture.name}.svg`, this.svg(), "image/svg+xml"); }
}

/** Draws only the views that are near the window. */
export function watchViews(views, redraw) {
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) views.find((view) => view.node === entry.target).shown = entry.isIntersecting;
    redraw();
  }, { rootMargin: "200px" });
  for (const view of views) observer.observe(view.node);
}
