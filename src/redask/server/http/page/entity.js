// /entity?urn=…: one entity, and what it is linked with as a small graph.

import { call, select, source } from "./api.js";
import { cut } from "./chart.js";
import { el, plural, show, svg } from "./dom.js";
import { sourceView } from "./source.js";
import { parseUrn, sourceName } from "./words.js";

const MOST = 24;

export async function entityView(view) {
  const urn = new URLSearchParams(location.search).get("urn") ?? "";
  const parts = parseUrn(urn);
  show(view, el("p", { class: "note" }, "Reading…"));
  const found = await source(urn);
  if (!found) {
    show(view, el("div", {}, el("h1", {}, "Not found"), el("p", {}, "There is no such entity that you may read.")));
    return;
  }
  const around = el("section", { "aria-label": "Neighbours" }, el("p", { class: "note" }, "Looking for neighbours…"));
  show(view, el("div", {},
    parts && parts.kind !== "query" ? el("p", {}, el("a", { href: `/data/${encodeURIComponent(parts.collection)}` }, parts.collection)) : null,
    el("h1", {}, sourceName(urn)), el("div", { class: "grid-2" }, el("div", { class: "card" }, sourceView(found, [], true)), around)));
  show(around, await neighbours(urn));
}

// Edges are rows of their collections.
async function neighbours(urn) {
  const { collections } = await call("GET", "/v1/collections");
  const edges = [];
  for (const each of collections.filter((one) => one.entities.edge)) {
    const name = `"${each.name.replaceAll('"', '""')}"`;
    const found = await select(`SELECT "from", label, "to" FROM ${name} WHERE "from" = $1 OR "to" = $1 ORDER BY label, "from", "to"`, [urn], 200);
    edges.push(...found.rows);
  }
  if (!edges.length) return el("p", { class: "note" }, "It is linked with nothing that you may read.");
  return [el("h2", {}, plural(edges.length, "link")), drawing(urn, edges.slice(0, MOST)), list(urn, edges)];
}

function drawing(urn, edges) {
  const [width, height] = [560, 400];
  const others = [...new Set(edges.map((each) => (each.from === urn ? each.to : each.from)))];
  const at = (number) => {
    const angle = (number / others.length) * 2 * Math.PI - Math.PI / 2;
    return [width / 2 + Math.cos(angle) * 195, height / 2 + Math.sin(angle) * 150];
  };
  const drawn = edges.map((each) => {
    const other = each.from === urn ? each.to : each.from;
    const [x, y] = at(others.indexOf(other));
    const [mx, my] = [(x + width / 2) / 2, (y + height / 2) / 2];
    return svg("g", {}, svg("line", { x1: width / 2, y1: height / 2, x2: x, y2: y }), svg("text", { x: mx, y: my - 3, "text-anchor": "middle", class: "edge" }, `${each.from === urn ? "" : "← "}${cut(each.label, 18)}${each.from === urn ? " →" : ""}`));
  });
  const nodes = others.map((other, number) => {
    const [x, y] = at(number);
    return svg("a", { href: `/entity?urn=${encodeURIComponent(other)}`, "aria-label": sourceName(other) }, svg("circle", { cx: x, cy: y, r: 9, class: "node" }), svg("text", { x, y: y + (y < height / 2 ? -14 : 24), "text-anchor": "middle" }, cut(sourceName(other), 26)));
  });
  return svg("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `Graph of ${plural(others.length, "neighbour")}` }, drawn, svg("circle", { cx: width / 2, cy: height / 2, r: 13, class: "self" }), nodes);
}

function list(urn, edges) {
  const link = (other) => el("a", { href: `/entity?urn=${encodeURIComponent(other)}` }, sourceName(other));
  return el("details", { open: edges.length > MOST }, el("summary", {}, "As a list"),
    el("ul", {}, edges.map((each) => el("li", {}, each.from === urn ? [`${each.label} → `, link(each.to)] : [link(each.from), ` → ${each.label}`]))));
}
