// Builds elements without parsing HTML: names from a study always become text, never markup.

/** Makes an element. An attribute whose value is a function becomes a listener; a child that is not a node becomes text. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  add(node, ...children);
  return node;
}

export function add(node, ...children) {
  for (const child of children.flat(2)) {
    if (child === null || child === undefined) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

/** A short mark; `title` is shown by a pointer that rests on it. */
export function badge(kind, text, title) {
  return el("span", { class: `badge ${kind}`, title: title || null }, text);
}

/** A row of buttons, one of them pressed. `choices` are [value, label] pairs; a click calls `onChange(value)`. */
export function choice(label, choices, chosen, onChange) {
  const group = el("div", { class: "switch", role: "group", "aria-label": label });
  const press = (value) => {
    for (const button of group.children) button.setAttribute("aria-pressed", String(button.dataset.value === value));
  };
  for (const [value, text] of choices) {
    const act = () => { press(value); onChange(value); };
    group.append(el("button", { type: "button", "data-value": value, click: act }, text));
  }
  press(chosen);
  return group;
}

/** A drop-down list with a label. `choices` are [value, label] pairs. */
export function dropDown(label, choices, chosen, onChange) {
  const select = el("select", { change: () => onChange(select.value) });
  for (const [value, text] of choices) select.append(el("option", { value, selected: value === chosen }, text));
  return el("label", {}, label, select);
}

export function section(id, title, ...children) {
  return el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), ...children);
}
