// One drawing interface with two backends, so the screen and an exported SVG show the same drawing.
// Styles: {fill, stroke, width, dash, radius, alpha}; texts: {size, fill, anchor, weight}. Coordinates are CSS pixels.

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif";

export class CanvasSurface {
  constructor(context) { this.context = context; }

  paint(style) {
    const { context } = this;
    context.globalAlpha = style.alpha ?? 1;
    if (style.fill) { context.fillStyle = style.fill; context.fill(); }
    if (style.stroke) {
      context.strokeStyle = style.stroke;
      context.lineWidth = style.width ?? 1;
      context.setLineDash(style.dash ?? []);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  rect(x, y, w, h, style) {
    const { context } = this;
    if (!style.stroke && !style.radius) {
      // The fast way for the many plain bars of a lane.
      context.globalAlpha = style.alpha ?? 1;
      context.fillStyle = style.fill;
      context.fillRect(x, y, w, h);
      context.globalAlpha = 1;
      return;
    }
    context.beginPath();
    if (style.radius) context.roundRect(x, y, w, h, style.radius); else context.rect(x, y, w, h);
    this.paint(style);
  }

  path(points, style) {
    const { context } = this;
    context.beginPath();
    points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    if (style.close) context.closePath();
    this.paint(style);
  }

  circle(x, y, radius, style) {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.paint(style);
  }

  text(x, y, words, style) {
    const { context } = this;
    context.font = `${style.weight ?? 400} ${style.size ?? 12}px ${FONT}`;
    context.textAlign = { start: "left", middle: "center", end: "right" }[style.anchor ?? "start"];
    context.fillStyle = style.fill;
    context.fillText(words, x, y);
  }
}

const short = (value) => String(Math.round(value * 100) / 100);
const escaped = (value) => String(value).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
  // XML forbids most control characters, even as references.
  .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");

export class SvgSurface {
  constructor() { this.parts = []; }

  attributes(style) {
    const out = [`fill="${escaped(style.fill ?? "none")}"`];
    if (style.stroke) out.push(`stroke="${escaped(style.stroke)}" stroke-width="${style.width ?? 1}"`);
    if (style.stroke && style.dash?.length) out.push(`stroke-dasharray="${style.dash.join(" ")}"`);
    if (style.alpha !== undefined && style.alpha !== 1) out.push(`opacity="${short(style.alpha)}"`);
    return out.join(" ");
  }

  rect(x, y, w, h, style) {
    const radius = style.radius ? ` rx="${style.radius}"` : "";
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(Math.max(w, 0))}" height="${short(Math.max(h, 0))}"${radius} ${this.attributes(style)}/>`);
  }

  path(points, style) {
    const line = points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${short(x)} ${short(y)}`).join("");
    this.parts.push(`<path d="${line}${style.close ? "Z" : ""}" ${this.attributes(style)}/>`);
  }

  circle(x, y, radius, style) {
    this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}" ${this.attributes(style)}/>`);
  }

  text(x, y, words, style) {
    const anchor = style.anchor ? ` text-anchor="${style.anchor}"` : "";
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" font-size="${style.size ?? 12}" font-weight="${style.weight ?? 400}" fill="${escaped(style.fill)}"${anchor}>${escaped(words)}</text>`);
  }

  /** The whole document: the drawing on a background below its title, which programs and screen readers show too. */
  document(inner, innerHeight, theme, title) {
    const edge = 10, size = 13 * theme.scale, head = Math.round(size + 2 * edge);
    const [width, height] = [inner + 2 * edge, innerHeight + head + edge];
    const drawing = this.parts;
    this.parts = [];
    this.text(edge, size + edge - 2, title, { size, weight: 600, fill: theme.ink });
    return `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="${FONT}">`
      + `<title>${escaped(title)}</title><rect width="${width}" height="${height}" fill="${theme.back}"/>\n${this.parts.join("\n")}\n<g transform="translate(${edge} ${head})">\n${drawing.join("\n")}\n</g>\n</svg>\n`;
  }
}

/** A text cut to about `width` pixels, with an ellipsis. Both backends must cut alike, so no font is measured. */
export function fit(words, width, size) {
  const room = Math.floor(width / (size * 0.56));
  return words.length <= room ? words : room < 2 ? words.slice(0, Math.max(room, 1)) : `${words.slice(0, room - 1)}…`;
}
