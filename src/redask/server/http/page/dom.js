// Nodes of the page: every text becomes a text node, nothing is ever parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

// An element. Of `props`: `on` holds listeners, `class` the classes, true is an attribute without
// a value; null, undefined and false are left out. Links lead to this page and nowhere else.
export function el(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "value") {
      node.value = value;
    } else if (value !== null && value !== undefined && value !== false) {
      if (name === "href" && !/^(\/(?!\/)|#|blob:)/.test(value)) {
        throw new Error("a link leads out of the page");
      }
      if (/^on|^style$|^src/.test(name)) throw new Error(`the attribute ${name} is not set here`);
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  put(node, children);
  return node;
}

// Add children: nodes, texts, lists of them; null and false are nothing.
export function put(node, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

// The same with nothing else in it.
export function show(node, ...children) {
  node.replaceChildren();
  return put(node, children);
}

export function button(text, act, props = {}) {
  return el("button", { type: "button", ...props, on: { click: act } }, text);
}

// Tell people who do not see the page.
export function say(text) {
  document.getElementById("said").textContent = text;
}

// Put a text on the clipboard, and tell so on the button.
export async function copy(text, at) {
  const said = at.textContent;
  try {
    await navigator.clipboard.writeText(text);
    at.textContent = "Copied";
  } catch {
    at.textContent = "Not allowed by the browser";
  }
  say(at.textContent);
  setTimeout(() => { at.textContent = said; }, 1500);
}

// Have the browser keep a text as a file.
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
