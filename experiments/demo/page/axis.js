// The time axis that lanes, links and versions share: one page of the record, from the left column to the right edge.

/** The column of names at the left, in pixels. */
export const leftOf = (frame) => Math.round((frame.width < 420 ? 92 : 112) * frame.theme.scale);

export function axisOf(frame) {
  const { alignment, page, run } = frame;
  const left = leftOf(frame), width = frame.width - left - 4;
  const scale = width / (page.to - page.from);
  return {
    left, width, right: left + width,
    begin: alignment.timeOf(run, page.from), end: alignment.timeOf(run, page.to),
    x: (time) => left + (alignment.positionOf(run, time) - page.from) * scale,
    timeAt: (x) => alignment.timeOf(run, page.from + (x - left) / scale),
  };
}

/** What a click on a picture with a time axis means. */
export function timeHit(x, frame) {
  const axis = axisOf(frame);
  return x >= axis.left ? { time: axis.timeAt(x) } : null;
}

export const pageKey = (frame) => `${frame.alignmentName} ${frame.page.from} ${frame.page.to}`;

function niceStep(span, most) {
  const rough = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
}

export const axisHeight = (theme) => Math.round(20 * theme.scale);

/** Draws ticks in milliseconds along the top, and a line where a step begins. */
export function drawAxis(surface, frame, axis) {
  const { theme, run } = frame;
  const size = 10.5 * theme.scale, top = axisHeight(theme);
  let named = -Infinity;
  for (const step of run.steps) {
    if (step.begin_us < axis.begin || step.begin_us > axis.end) continue;
    const x = axis.x(step.begin_us);
    surface.path([[x, top - 4], [x, frame.height]], { stroke: theme.soft, width: 1, alpha: 0.55 });
    if (x > axis.right - 44 * theme.scale || x < named + 44 * theme.scale) continue;
    named = x;
    surface.text(x + 3, top - 6, `step ${step.step}`, { size, fill: theme.ink, weight: 600 });
  }
  const every = niceStep(axis.end - axis.begin, axis.width / (92 * theme.scale));
  const digits = Math.max(0, -Math.floor(Math.log10(every / 1000) + 1e-9));
  const near = run.steps.map((step) => axis.x(step.begin_us));
  for (let time = Math.ceil(axis.begin / every) * every; time <= axis.end; time += every) {
    const x = axis.x(time);
    surface.path([[x, top], [x, frame.height]], { stroke: theme.line, width: 1, alpha: 0.6 });
    if (x > axis.right - 26 * theme.scale || near.some((step) => x - step > -34 * theme.scale && x - step < 76 * theme.scale)) continue;
    surface.text(x, top - 6, `${(time / 1000).toFixed(digits)} ms`, { size, fill: theme.soft, anchor: "middle" });
  }
}

/** The line of the present. */
export function drawNow(surface, frame, axis) {
  const x = Math.min(axis.right, axis.x(frame.time));
  if (x < axis.left) return;
  const top = axisHeight(frame.theme);
  surface.path([[x, top - 2], [x, frame.height]], { stroke: frame.theme.now, width: 2 });
  surface.path([[x - 5, top - 8], [x + 5, top - 8], [x, top - 1]], { fill: frame.theme.now, close: true });
}
