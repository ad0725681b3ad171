// All keys of the page. Controls keep their own keys: Space presses a button, arrows choose in a list.
import { el } from "./dom.js";
import { SPEEDS } from "./player.js";

export const KEYS = [
  ["Space", "play and pause"], ["← →", "to the last or the next event"], ["Shift + ← →", "to the last or the next arrival of a chunk"], ["Home, End", "to the beginning, to the end"],
  ["+ −", "faster, slower"], ["1 to 9", `a speed: 1 is 1/1000, ${SPEEDS.length} is real time`], ["c", "choose the next chunk on its way; Shift + c: the one before"],
  ["q", "questions on or off"], ["Esc", "skip a question, or let a chunk go"], ["?", "this help"],
];

/** What each key does. `app` has the parts of the page. */
function actionOf(event, app) {
  const { player } = app;
  const times = event.shiftKey ? "chunkTimes" : "eventTimes";
  if (/^[1-9]$/.test(event.key) && SPEEDS[Number(event.key) - 1]) return () => player.setSpeed(SPEEDS[Number(event.key) - 1]);
  return {
    " ": () => player.toggle(), ArrowLeft: () => player.step(times, -1), ArrowRight: () => player.step(times, 1),
    Home: () => player.seek(0), End: () => player.seek(player.length), "+": () => player.changeSpeed(1), "=": () => player.changeSpeed(1), "-": () => player.changeSpeed(-1),
    c: () => app.nextChunk(1), C: () => app.nextChunk(-1), q: () => app.questions.setOn(!app.questions.on), "?": () => app.openHelp(), Escape: () => app.escape(),
  }[event.key];
}

/** Whether the focused control needs this key itself. */
function keptBy(target, key) {
  if (key === "Escape") return false;
  const tag = target.tagName;
  if (target.type === "range") return !["ArrowLeft", "ArrowRight", "Home", "End", " "].includes(key) && key.startsWith("Arrow");
  if (tag === "SELECT" || tag === "TEXTAREA" || target.type === "radio") return true;
  if (tag === "BUTTON" || tag === "SUMMARY" || tag === "A" || target.type === "checkbox") return key === " " || key === "Enter";
  // A region that scrolls keeps the keys that scroll it.
  return target.classList.contains("scroll") && (key.startsWith("Arrow") || key === "Home" || key === "End" || key === " ");
}

export function listenToKeys(app) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const action = actionOf(event, app);
    if (!action || keptBy(event.target, event.key)) return;
    event.preventDefault();
    // A question comes first: nothing else moves the clock until it is answered or skipped.
    if (app.questions.asked && event.key !== "Escape" && event.key !== "q") return;
    action();
  });
}

/** The dialog with all keys. */
export function helpDialog() {
  const dialog = el("dialog", { "aria-labelledby": "help-title" },
    el("h2", { id: "help-title" }, "Keys"), el("dl", { class: "keys" }, KEYS.map(([key, what]) => el("div", {}, el("dt", {}, key), el("dd", {}, what)))),
    el("h2", {}, "How to read the pictures"),
    el("p", {}, "A colour is a bucket: a part of the parameters that is sent together. It is the same in all pictures. In a node's bar, the height of a part says how many workers' gradients are in its sum; a pale full part holds finished parameters."),
    el("p", {}, "A dashed frame is a node that waits. A dotted line leads to the node that it waits for."),
    el("button", { type: "button", class: "main", click: () => dialog.close() }, "Close"));
  return dialog;
}
