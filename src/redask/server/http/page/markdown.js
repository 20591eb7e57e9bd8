// Markdown as nodes: paragraphs, headings, lists, quotations, tables, code, emphasis, footnotes.
//
// Nothing else is markup: links, images and tags stay the text that they are. Every piece of text
// knows its place in the answer, so that claims can be marked: `claims` are [{start, end, verdict}]
// in UTF-16 units, in order; `footnote(n)` makes the node of [^n]. Linear in the length of the text.

import { el } from "./dom.js";
import { VERDICTS } from "./words.js";

const FENCE = /^[ \t]*`{3,}/;
const HEADING = /^(#{1,6})[ \t]+(?=\S)/;
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+/;
const QUOTE = /^[ \t]*>[ \t]?/;
const RULE = /^[ \t]*([-*_])[ \t]*(\1[ \t]*){2,}$/;
const ROW = /^[ \t]*\|.*\|[ \t]*$/;
const SEPARATOR = /^[ \t]*\|([ \t]*:?-+:?[ \t]*\|)+[ \t]*$/;

// The blocks of a text: [{start, end, lines, kind}].
export function blocks(text) {
  const lines = linesOf(text);
  const found = [];
  let at = 0;
  while (at < lines.length) {
    const first = lines[at];
    const kind = kindOf(first.text, lines[at + 1]?.text);
    let end = at + 1;
    if (kind === "code") {
      while (end < lines.length && !FENCE.test(lines[end].text)) end += 1;
      end = Math.min(end + 1, lines.length);
    } else if (kind === "paragraph") {
      while (end < lines.length && kindOf(lines[end].text, lines[end + 1]?.text) === "paragraph") end += 1;
    } else if (["list", "quote", "table"].includes(kind)) {
      while (end < lines.length && goesOn(kind, lines[end].text, lines[end + 1]?.text)) end += 1;
    }
    if (kind !== "blank") {
      const last = lines[end - 1];
      found.push({ kind, lines: lines.slice(at, end), start: first.start, end: last.start + last.text.length });
    }
    at = end;
  }
  return found;
}

function linesOf(text) {
  const found = [];
  let start = 0;
  for (const line of text.split("\n")) {
    found.push({ text: line, start });
    start += line.length + 1;
  }
  return found;
}

function kindOf(line, next = "") {
  if (!line.trim()) return "blank";
  if (FENCE.test(line)) return "code";
  if (HEADING.test(line)) return "heading";
  if (RULE.test(line)) return "rule";
  if (ITEM.test(line)) return "list";
  if (QUOTE.test(line)) return "quote";
  if (ROW.test(line) && SEPARATOR.test(next)) return "table";
  return "paragraph";
}

function goesOn(kind, line, next) {
  if (kind === "table") return ROW.test(line);
  const found = kindOf(line, next);
  return found === kind || (kind === "list" && found === "paragraph" && /^[ \t]{2,}/.test(line));
}

// Shows a text that grows: blocks that stay the same keep their nodes.
export class MarkdownView {
  constructor(node, footnote) {
    this.node = node;
    this.footnote = footnote;
    this.shown = [];
  }

  update(text, claims = []) {
    const next = blocks(text).map((block) => {
      const raw = text.slice(block.start, block.end);
      const inside = claims.filter((each) => each.start < block.end && each.end > block.start);
      return { block, key: JSON.stringify([raw, block.kind, inside.map((each) => [each.start - block.start, each.end - block.start, each.verdict])]), inside };
    });
    let same = 0;
    while (same < next.length && same < this.shown.length && this.shown[same].key === next[same].key) same += 1;
    for (const old of this.shown.splice(same)) old.node.remove();
    for (const { block, key, inside } of next.slice(same)) {
      const node = render(block, new Inline(inside, this.footnote));
      this.node.append(node);
      this.shown.push({ key, node });
    }
  }
}

function render({ kind, lines }, inline) {
  switch (kind) {
    case "code": {
      const closed = lines.length > 1 && FENCE.test(lines.at(-1).text);
      const body = lines.slice(1, closed ? -1 : undefined);
      return el("pre", { tabindex: 0 }, el("code", {}, body.map((line) => line.text).join("\n")));
    }
    case "heading": {
      const [mark, signs] = HEADING.exec(lines[0].text);
      return el(`h${Math.min(signs.length + 2, 6)}`, {}, inline.nodes([piece(lines[0], mark.length)]));
    }
    case "rule":
      return el("hr");
    case "quote":
      return el("blockquote", {}, inline.nodes(lines.map((line) => piece(line, QUOTE.exec(line.text)?.[0].length ?? 0))));
    case "table":
      return table(lines, inline);
    case "list":
      return list(lines, inline);
    default:
      return el("p", {}, inline.nodes(lines.map((line) => piece(line, 0))));
  }
}

function piece(line, skipped) {
  return { text: line.text.slice(skipped), start: line.start + skipped };
}

function list(lines, inline) {
  const items = [];
  for (const line of lines) {
    const found = ITEM.exec(line.text);
    if (found) items.push({ depth: found[1].replace("\t", "    ").length, ordered: /\d/.test(found[2]), number: parseInt(found[2], 10), pieces: [piece(line, found[0].length)] });
    else items.at(-1).pieces.push(piece(line, /^[ \t]*/.exec(line.text)[0].length));
  }
  const root = opened(items[0]);
  const stack = [{ depth: items[0].depth, node: root }];
  for (const item of items) {
    while (stack.length > 1 && item.depth < stack.at(-1).depth) stack.pop();
    if (item.depth > stack.at(-1).depth + 1 && stack.at(-1).node.lastChild && stack.length < 6) {
      const node = opened(item);
      stack.at(-1).node.lastChild.append(node);
      stack.push({ depth: item.depth, node });
    }
    stack.at(-1).node.append(el("li", {}, inline.nodes(item.pieces)));
  }
  return root;
}

function opened(item) {
  return item.ordered ? el("ol", { start: item.number === 1 ? null : item.number }) : el("ul");
}

function table(lines, inline) {
  const [head, , ...body] = lines.map(cells);
  return el(
    "div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table" },
    el("table", {},
      el("thead", {}, el("tr", {}, head.map((cell) => el("th", { scope: "col" }, inline.nodes([cell]))))),
      el("tbody", {}, body.map((row, number) => {
        const line = lines[number + 2];
        const made = row.map((cell) => el("td", {}, inline.nodes([cell])));
        const signs = [];
        inline.closed(line.start, line.start + line.text.length, signs); // a row is a claim
        made.at(-1)?.append(...signs);
        return el("tr", {}, made);
      }))),
  );
}

function cells(line) {
  const found = [];
  let from = line.text.indexOf("|") + 1;
  for (let at = from; at < line.text.length; at += 1) {
    if (line.text[at] === "\\") at += 1;
    else if (line.text[at] === "|") {
      const raw = line.text.slice(from, at);
      const blank = raw.length - raw.trimStart().length;
      found.push({ text: raw.trim(), start: line.start + from + blank });
      from = at + 1;
    }
  }
  return found;
}

// Inline markup of pieces of text, which stay on one line each.
class Inline {
  constructor(claims, footnote) {
    this.claims = claims;
    this.footnote = footnote;
  }

  nodes(pieces) {
    const out = [];
    pieces.forEach((each, number) => {
      if (number) out.push("\n");
      this.parse(each.text, each.start, out, 0);
    });
    return out;
  }

  parse(text, start, out, depth) {
    let plain = 0;
    let at = 0;
    const flush = (end) => { if (end > plain) this.text(text.slice(plain, end), start + plain, out); };
    while (at < text.length) {
      const found = this.markup(text, at, depth);
      if (!found) {
        at += text[at] === "\\" && at + 1 < text.length ? 2 : 1;
        continue;
      }
      flush(at);
      if (found.inner) {
        const node = el(found.tag);
        const kept = [];
        this.parse(text.slice(found.inner[0], found.inner[1]), start + found.inner[0], kept, depth + 1);
        node.append(...kept);
        out.push(node);
      } else if (found.code) {
        out.push(el("code", {}, text.slice(found.code[0], found.code[1])));
      } else {
        out.push(this.footnote(found.marker));
      }
      this.closed(start + at, start + found.end, out);
      at = found.end;
      plain = at;
    }
    flush(text.length);
  }

  markup(text, at, depth) {
    const sign = text[at];
    if (sign === "`") {
      const end = text.indexOf("`", at + 1);
      return end > at + 1 ? { code: [at + 1, end], end: end + 1 } : null;
    }
    if (sign === "[" && text[at + 1] === "^") {
      const marker = /^\[\^([1-9]\d{0,9})\]/.exec(text.slice(at, at + 14));
      return marker ? { marker: Number(marker[1]), end: at + marker[0].length } : null;
    }
    if ((sign === "*" || sign === "_") && depth < 4) {
      const double = text[at + 1] === sign;
      const mark = double ? sign + sign : sign;
      const from = at + mark.length;
      if (!text[from] || /\s/.test(text[from]) || (sign === "_" && /\w/.test(text[at - 1] ?? ""))) return null;
      const end = text.indexOf(mark, from + 1);
      if (end < 0 || end - from > 2000 || /\s/.test(text[end - 1])) return null;
      if (sign === "_" && /\w/.test(text[end + mark.length] ?? "")) return null;
      return { tag: double ? "strong" : "em", inner: [from, end], end: end + mark.length };
    }
    return null;
  }

  // Text, cut where claims begin and end.
  text(text, start, out) {
    let at = 0;
    while (at < text.length) {
      const claim = this.claims.find((each) => each.start <= start + at && each.end > start + at);
      const next = claim ? claim.end : Math.min(...this.claims.map((each) => each.start).filter((each) => each > start + at), start + text.length);
      const end = Math.min(next - start, text.length);
      const shown = unescaped(text.slice(at, end));
      if (claim) {
        const words = shown.trimEnd();
        if (words) out.push(el("span", { class: `claim ${claim.verdict}` }, words));
        out.push(shown.slice(words.length));
        this.closed(start + at, start + end, out);
      } else {
        out.push(shown);
      }
      at = end;
    }
  }

  // A claim ends with a sign, once; blanks behind its last words do not count.
  closed(from, to, out) {
    for (const claim of this.claims) {
      if (!claim.signed && claim.end > from && claim.end <= to) {
        claim.signed = true;
        out.push(verdictSign(claim.verdict));
      }
    }
  }
}

function unescaped(text) {
  return text.replace(/\\([\\`*_[\]|])/g, "$1");
}

export function verdictSign(verdict) {
  const { sign, word, text } = VERDICTS[verdict];
  return el("span", { class: `verdict ${verdict}`, title: text }, el("span", { "aria-hidden": "true" }, sign), el("span", { class: "unseen" }, ` (${word}) `));
}
