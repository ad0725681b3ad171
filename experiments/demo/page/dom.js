// Builds elements without parsing HTML: the report's page has the functions, and both pages share them.
export { add, choice, dropDown, el } from "../../report/page/dom.js";
