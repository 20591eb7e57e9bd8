// The panel beside the view: one thing at a time; Escape closes it, and focus goes back.

import { button, el, show } from "./dom.js";

let before = null;

export function openSide(title, ...content) {
  const side = document.getElementById("side");
  if (side.hidden) before = document.activeElement;
  const head = el("h2", { tabindex: -1 }, title);
  show(side, el("div", { class: "side-head" }, head, button("Close", closeSide, { class: "quiet", "aria-keyshortcuts": "Escape" })), content);
  side.hidden = false;
  document.body.classList.add("with-side");
  side.scrollTop = 0;
  head.focus({ preventScroll: true });
  return side;
}

export function closeSide() {
  const side = document.getElementById("side");
  if (side.hidden) return false;
  side.hidden = true;
  side.replaceChildren();
  document.body.classList.remove("with-side");
  before?.focus?.({ preventScroll: true });
  before = null;
  return true;
}
