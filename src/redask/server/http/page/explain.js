// EXPLAIN drawn: how each bucket ranks, how the ranks fuse into one list, what would be sent.

import { call } from "./api.js";
import { button, el, plural, show, svg } from "./dom.js";
import { cut } from "./chart.js";
import { openSide } from "./side.js";
import { openUrn } from "./source.js";
import { failureBox, sourceName } from "./words.js";

const COLUMNS = ["bm25", "vector", "graph"];
const TITLES = { bm25: "words (bm25)", vector: "meaning (vector)", graph: "links (graph)" };
const SHOWN = 6; // of each bucket
const FUSED = 10;
const ROW = 22;

export async function openExplain(question, options) {
  const body = el("div", { class: "explain" }, el("p", {}, "Planning…"));
  openSide("Explain", body);
  try {
    const plan = await call("POST", "/v1/explain", { question, options });
    const { temperature, seed, ...searching } = options;
    const found = plan.retrieval.length ? await call("POST", "/v1/search", { question, options: searching, ranks: true }) : { ranks: [], hits: [] };
    show(body, planView(plan, found));
  } catch (error) {
    show(body, failureBox(error));
  }
}

export function planView(plan, { ranks }) {
  return [
    el("p", { class: "note" }, "Nobody was asked, nothing was spent; the access log has a row of it, as of a search."),
    plan.query ? el("section", {}, el("h3", {}, "Computed"), el("p", {}, plan.query.sql ? `Certain by ${Math.round(plan.query.coverage * 100)} % of its words (${plan.query.intent}):` : plan.query.intent), plan.query.sql ? el("pre", { tabindex: 0 }, el("code", {}, plan.query.sql)) : null) : null,
    ranks.length ? el("section", {}, el("h3", {}, "How ranks fuse"), picture(plan, ranks), buckets(plan, ranks)) : null,
    el("section", {}, el("h3", {}, "What would be sent"), facts(plan)),
    el("section", {}, el("h3", {}, plural(plan.sources.length, "source")), sources(plan)),
  ];
}

// The buckets' lists on the left, the fused one on the right, and a line for each rank that counts;
// a bar shows what each bucket adds to a sum.
function picture(plan, ranks) {
  const final = plan.sources.filter((each) => !each.urn.startsWith("urn:reddb:query:")).slice(0, FUSED);
  const place = new Map(final.map((each, number) => [each.urn, number]));
  const lists = COLUMNS.map((name) => ranks.find((each) => each.bucket === name)).filter(Boolean);
  const [left, right, width] = [212, 330, 600];
  const most = Math.max(...final.map((each) => each.rrf_score), 1e-9);
  const lines = [];
  const drawn = [];
  let top = 0;
  const y = (number) => 22 + number * 42;
  for (const list of lists) {
    drawn.push(svg("text", { x: 0, y: top + 13, class: "head" }, `${TITLES[list.bucket]} × ${list.weight}`));
    list.urns.slice(0, SHOWN).forEach((urn, number) => {
      const at = top + 20 + number * ROW;
      if (place.has(urn)) {
        const to = y(place.get(urn)) + 11;
        lines.push(svg("path", { class: `flow ${list.bucket}`, d: `M${left} ${at + 9}C${left + 60} ${at + 9} ${right - 60} ${to} ${right} ${to}` }));
      }
      drawn.push(svg("g", { class: place.has(urn) ? "rank" : "rank out" }, svg("rect", { x: 0, y: at, width: left, height: ROW - 4, rx: 4 }), svg("text", { x: 6, y: at + 13 }, cut(`${number + 1}  ${sourceName(urn)}`, 36)), svg("title", {}, sourceName(urn))));
    });
    if (!list.urns.length) drawn.push(svg("text", { x: 0, y: top + 34, class: "figure" }, cut(list.left_out || "nothing found", 40)));
    top += 20 + Math.max(Math.min(list.urns.length, SHOWN), 1) * ROW + 14;
  }
  drawn.push(svg("text", { x: right, y: 13, class: "head" }, "fused"));
  final.forEach((each, number) => {
    const at = y(number);
    let x = right;
    const parts = lists.map((list) => {
      const rank = list.urns.indexOf(each.urn) + 1;
      const share = rank ? (list.weight / (plan.fusion.k_constant + rank) / most) * (width - right) : 0;
      x += share;
      return share ? svg("rect", { x: x - share, y: at + 24, width: share, height: 6, class: `part ${list.bucket}` }) : null;
    });
    drawn.push(svg("g", { class: "rank final" }, svg("rect", { x: right, y: at, width: width - right, height: 22, rx: 4 }), svg("text", { x: right + 6, y: at + 15 }, cut(`${each.rank}  ${sourceName(each.urn)}`, 34)), svg("text", { x: width - 6, y: at + 15, "text-anchor": "end", class: "figure" }, each.rrf_score.toFixed(4)), svg("title", {}, sourceName(each.urn))), parts);
  });
  const height = Math.max(top, y(final.length));
  const words = lists.map((list) => `${TITLES[list.bucket]} ranks ${plural(list.urns.length, "entity", "entities")}`).join("; ");
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Picture of the fusion" },
    svg("svg", { class: "fusion", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${words}; fused into ${plural(plan.sources.length, "source")}, the first: ${final.map((each) => sourceName(each.urn)).join(", ")}` }, lines, drawn));
}

function buckets(plan, ranks) {
  const told = ranks.filter((each) => each.reason || each.left_out).map((each) => `${each.bucket}: ${each.left_out || `weighs ${each.weight}, ${each.reason}`}`);
  return el("p", { class: "note" }, `Each rank adds weight ⁄ (${plan.fusion.k_constant} + rank); the ${plan.fusion.limit} highest sums stay. ${told.join("; ")}`);
}

function facts(plan) {
  const most = plan.estimated_cost.max_completion_tokens;
  const knobs = Object.entries(plan.determinism).map(([name, value]) => `${name} ${value}`).join(", ") || "none: this provider has no knobs";
  const rows = [
    ["provider", `${plan.provider.name} · ${plan.provider.model}`],
    ["cites", plan.provider.supports_citations ? "yes" : "no"],
    ["mode", plan.mode], ["knobs", knobs],
    ["prompt", `about ${plan.estimated_cost.prompt_tokens.toLocaleString("en")} tokens`],
    ["answer", `at most ${most.toLocaleString("en")} tokens`],
    ["depth of links", plan.depth],
    ["buckets", plan.retrieval.map((each) => `${each.bucket} ${each.top_k}${each.min_score ? ` from ${each.min_score}` : ""}`).join(", ") || "not searched: the answer is computed"],
  ];
  return el("dl", { class: "fields" }, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]));
}

function sources(plan) {
  return el("ol", { class: "sources" }, plan.sources.map((each) => el("li", {}, button(sourceName(each.urn), () => openUrn(each.urn), { class: "link" }), el("span", { class: "snippet" }, each.rrf_score ? each.rrf_score.toFixed(5) : ""))));
}
