// Colours. A bucket has one colour in every view; what a node does is said by the place of a bar, not by its colour.

const BUCKETS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
export const bucketColour = (bucket) => (bucket < 0 ? "#8C8C8C" : BUCKETS[bucket % BUCKETS.length]);

let theme = null;

/** The colours of the page now, from its style sheet. */
export function themeNow() {
  if (theme) return theme;
  const style = getComputedStyle(document.documentElement);
  const css = (name) => style.getPropertyValue(name).trim();
  theme = { back: css("--back"), panel: css("--panel"), ink: css("--ink"), soft: css("--soft"), line: css("--line"), accent: css("--accent"),
            wait: css("--wait"), forward: css("--forward"), backward: css("--backward"), now: css("--now"), pale: Number(css("--pale")) || 0.3,
            scale: Number(css("--picture-scale")) || 1 };
  return theme;
}

export function forgetTheme() { theme = null; }
