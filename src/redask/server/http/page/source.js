// A source for people: its words with the quoted passage marked, its place, its other fields.

import { source as fetched } from "./api.js";
import { button, copy, el } from "./dom.js";
import { openSide } from "./side.js";
import { resultView } from "./computed.js";
import { columnsOf, failureBox, parseUrn, payloadOf, rowPlace, sourceName } from "./words.js";

const PLACES = { page: "page", heading: "heading", line: "line", sheet: "sheet", cells: "cells", path: "file", columns: "columns" };
const TEXTS = ["text", "body", "content"]; // shown as running text

// Open source number `n` of an answer; `quotes` are those of its evidence.
export function openSource(n, found, quotes = []) {
  const mine = quotes.filter((each) => each.urn === found.urn);
  const side = openSide(n ? `Source ${n}` : "Source", sourceView(found, mine));
  side.querySelector("mark")?.scrollIntoView({ block: "center" });
}

// The same by its URN alone.
export async function openUrn(urn) {
  try {
    const found = await fetched(urn);
    if (found) openSource(null, found);
    else openSide("Source", el("p", {}, "There is no such source that you may read."));
  } catch (error) {
    openSide("Source", failureBox(error));
  }
}

// On an entity's own page (`whole`) its name and a link to it stand above.
export function sourceView(found, quotes = [], whole = false) {
  const parts = parseUrn(found.urn);
  const payload = payloadOf(found);
  const where = place(quotes, payload);
  const name = payload.title ?? payload.heading ?? payload.name ?? sourceName(found.urn);
  const link = parts && parts.kind !== "query" && !whole;
  return el(
    "article", { class: "source" },
    whole ? null : el("h3", {}, String(name)),
    el("p", { class: "place" }, kindOf(parts), where ? ` · ${where}` : ""),
    parts?.kind === "query" ? resultView(payload, { quotes }) : fields(payload, quotes),
    el("p", { class: "actions" },
      link ? el("a", { href: `/entity?urn=${encodeURIComponent(found.urn)}` }, "Open its page") : null,
      button("Copy URN", (event) => copy(found.urn, event.currentTarget), { class: "quiet" })),
    el("p", { class: "urn" }, found.urn),
  );
}

function kindOf(parts) {
  if (!parts) return "source";
  return parts.kind === "query" ? "result of a SELECT" : `${parts.kind} of ${parts.collection}`;
}

function place(quotes, payload) {
  const found = quotes.find((each) => each.place)?.place ?? {};
  const known = { path: payload.path, page: payload.page, ...rowPlace(payload), ...found };
  return Object.keys(PLACES)
    .filter((each) => known[each] !== undefined && known[each] !== null && each !== "columns")
    .map((each) => `${PLACES[each]} ${[known[each]].flat().join(" › ")}`)
    .join(", ");
}

function fields(payload, quotes) {
  const running = Object.keys(payload).filter((name) => TEXTS.includes(name) && typeof payload[name] === "string");
  const rest = Object.keys(payload).filter((name) => !running.includes(name) && name in columnsOf(payload));
  return [
    running.map((name) => el("div", { class: "passage" }, marked(payload[name], quotes, name, true))),
    rest.length ? el("dl", { class: "fields" }, rest.map((name) => [el("dt", {}, name), el("dd", {}, marked(shown(payload[name]), quotes, name, false))])) : null,
  ];
}

export function shown(value) {
  if (value === null || value === undefined) return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

// A text with the quotations in it marked: where they say, or where their words stand.
function marked(text, quotes, column, running) {
  const spans = [];
  for (const quote of quotes) {
    if (!quote.text) continue;
    const named = quote.place?.columns;
    if (named && !running && !named.includes(column)) continue;
    if (named && running && !named.includes(column)) continue;
    const exact = codePointSlice(text, quote.start, quote.end);
    if (exact && exact.text === quote.text) spans.push([exact.from, exact.to]);
    else {
      const at = text.indexOf(quote.text);
      if (at >= 0) spans.push([at, at + quote.text.length]);
    }
  }
  spans.sort((a, b) => a[0] - b[0]);
  const out = [];
  let at = 0;
  for (const [from, to] of spans) {
    if (to <= at) continue;
    out.push(text.slice(at, Math.max(from, at)), el("mark", {}, text.slice(Math.max(from, at), to)));
    at = to;
  }
  out.push(text.slice(at));
  return out;
}

// Offsets are code points; JavaScript counts UTF-16 units.
function codePointSlice(text, start, end) {
  let units = 0;
  let count = 0;
  let from = -1;
  for (const character of text) {
    if (count === start) from = units;
    if (count === end) return { text: text.slice(from, units), from, to: units };
    units += character.length;
    count += 1;
  }
  if (count === start) from = units;
  return count === end && from >= 0 ? { text: text.slice(from, units), from, to: units } : null;
}
