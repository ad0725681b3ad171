// Builds elements without parsing HTML: the report's page has the functions, and both pages share them. Saves texts as files.
export { add, choice, dropDown, el } from "../../report/page/dom.js";

/** Saves a text as a file, without a network and without a server. */
export function saveText(name, text, type) {
  const safe = name.replace(/[^A-Za-z0-9._-]+/g, "-");
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = safe;
  link.click();
  // The browser reads the address after this call returns.
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
