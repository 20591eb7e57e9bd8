// /data: collections and search. /data/NAME: its rows, filtered and ordered by what the address says:
//
//   ?sort=COLUMN · ?sort_desc=COLUMN · ?page=2 · ?COLUMN__OPERATOR=VALUE, any number of them
//
// Every view is one SELECT, which is shown and can be taken along.

import { call, select } from "./api.js";
import { button, copy, el, plural, show } from "./dom.js";
import { ingestView } from "./ingest.js";
import { openSource } from "./source.js";
import { plainCell, tableView } from "./table.js";
import { failureBox, payloadOf, sourceName } from "./words.js";

const PAGE = 50;
const OPERATORS = {
  exact: { name: "is", sql: (column, n) => `${column}::text = $${n}` },
  not: { name: "is not", sql: (column, n) => `${column}::text <> $${n}` },
  contains: { name: "contains", sql: (column, n) => `${column}::text ILIKE $${n}`, value: (text) => `%${text.replaceAll(/[\\%_]/g, "\\$&")}%` },
  gt: { name: "greater than", sql: (column, n) => `${column} > $${n}` },
  gte: { name: "at least", sql: (column, n) => `${column} >= $${n}` },
  lt: { name: "less than", sql: (column, n) => `${column} < $${n}` },
  lte: { name: "at most", sql: (column, n) => `${column} <= $${n}` },
  isnull: { name: "is empty", sql: (column) => `${column} IS NULL` },
  notnull: { name: "is there", sql: (column) => `${column} IS NOT NULL` },
};
const quoted = (name) => `"${name.replaceAll('"', '""')}"`;

export async function dataView(view, { who, go }) {
  const name = decodeURIComponent(location.pathname.slice("/data/".length));
  if (name) return collectionView(view, name, go);
  const words = new URLSearchParams(location.search).get("q") ?? "";
  const found = el("div");
  show(view, el("div", {}, el("h1", {}, "Data"), searchForm(words, go), found));
  if (words) await searched(found, words);
  else await overview(found, who);
}

function searchForm(words, go) {
  const box = el("input", { id: "search", type: "search", class: "grow", value: words, "aria-label": "Search", placeholder: "Search as questions are searched…" });
  return el("form", { class: "bar-line", role: "search", on: { submit: (event) => {
    event.preventDefault();
    go(box.value.trim() ? `/data?q=${encodeURIComponent(box.value.trim())}` : "/data");
  } } }, box, el("button", { type: "submit" }, "Search"));
}

async function searched(into, question) {
  show(into, el("p", { class: "note" }, "Searching…"));
  const { hits } = await call("POST", "/v1/search", { question, options: { limit: 50 } });
  show(into, el("h2", {}, plural(hits.length, "hit")), hits.map((hit, number) => {
    const payload = payloadOf(hit);
    return el("article", { class: "hit" },
      el("h3", {}, `${number + 1}. `, el("a", { href: `/entity?urn=${encodeURIComponent(hit.urn)}` }, String(payload.title ?? payload.name ?? sourceName(hit.urn)))),
      el("p", { class: "snippet" }, String(payload.text ?? hit.payload).slice(0, 300)),
      el("p", { class: "place" }, `${sourceName(hit.urn)} · ${hit.score.toFixed(4)} `, button("Look", () => openSource(null, hit), { class: "quiet" })));
  }));
}

async function overview(into, who) {
  const table = el("div");
  show(into, who.role === "owner" ? ingestView(() => listed(table)) : null, table);
  await listed(table);
}

async function listed(into) {
  const { collections } = await call("GET", "/v1/collections");
  const columns = [{ name: "collection" }, { name: "entities", type: "int8" }, { name: "kind" }, { name: "columns" }];
  const rows = collections.filter((each) => !each.name.startsWith("red_")).map((each) => [each.name, Object.values(each.entities).reduce((sum, n) => sum + n, 0), Object.keys(each.entities).join(", "), each.columns]);
  const cell = (value, column) => {
    if (column.name === "collection") return el("a", { href: `/data/${encodeURIComponent(value)}` }, value);
    if (column.name === "entities") return value.toLocaleString("en");
    if (column.name === "columns") return value.filter((each) => each.name !== "urn").map((each, number) => [number ? ", " : "", each.name, " ", el("span", { class: "null" }, each.type)]);
    return value;
  };
  show(into, rows.length ? tableView(columns, rows, { label: "Collections", cell }) : el("p", {}, "There is nothing here yet that you may read."));
}

// The SELECT of an address.
export function browsing(name, columns, search) {
  const given = new URLSearchParams(search);
  const known = new Map(columns.map((column) => [column.name, column]));
  const filters = [];
  for (const [key, value] of given) {
    const cut = key.lastIndexOf("__");
    const [column, operator] = [key.slice(0, cut), key.slice(cut + 2)];
    if (cut > 0 && known.has(column) && OPERATORS[operator]) filters.push({ column, operator, value });
  }
  const params = [];
  const conditions = filters.map(({ column, operator, value }) => {
    const row = OPERATORS[operator];
    if (row.sql.length > 1) params.push(row.value ? row.value(value) : value);
    return row.sql(quoted(column), params.length);
  });
  const where = conditions.length ? ` WHERE ${conditions.join(" AND ")}` : "";
  const named = known.has("urn") ? '"urn"' : "1"; // the logs have none
  const sorted = ["sort", "sort_desc"].map((key) => [key, given.get(key)]).find(([, column]) => known.has(column));
  const order = sorted ? `${quoted(sorted[1])}${sorted[0] === "sort_desc" ? " DESC" : ""}, ${named}` : named;
  const page = Math.max(Number.parseInt(given.get("page") ?? "1", 10) || 1, 1);
  return {
    filters, sorted, page, params,
    count: `SELECT count(*) FROM ${quoted(name)}${where}`,
    rows: `SELECT * FROM ${quoted(name)}${where} ORDER BY ${order} LIMIT ${PAGE} OFFSET ${(page - 1) * PAGE}`,
  };
}

function address(change) {
  const given = new URLSearchParams(location.search);
  change(given);
  const text = given.toString();
  return `${location.pathname}${text ? `?${text}` : ""}`;
}

async function collectionView(view, name, go) {
  const body = el("div", {}, el("p", { class: "note" }, "Reading…"));
  show(view, el("div", {}, el("p", {}, el("a", { href: "/data" }, "All collections")), el("h1", {}, name), body));
  const { collections } = await call("GET", "/v1/collections");
  const found = collections.find((each) => each.name === name);
  if (!found) return show(body, el("p", {}, "There is no such collection that you may read."));
  const query = browsing(name, found.columns, location.search);
  try {
    const [counted, rows] = await Promise.all([select(query.count, query.params), select(query.rows, query.params, PAGE)]);
    const count = Number(counted.rows[0].count);
    show(body, filterForm(found.columns, query, go), rowsView(name, rows, query), pager(count, query, go), el("details", {}, el("summary", {}, "As SELECT"), el("pre", { tabindex: 0 }, el("code", {}, query.rows)), query.params.length ? el("p", { class: "note" }, `with ${query.params.map((each, number) => `$${number + 1} = ${JSON.stringify(each)}`).join(", ")}`) : null, button("Copy", (event) => copy(query.rows, event.currentTarget), { class: "quiet" })));
  } catch (error) {
    show(body, filterForm(found.columns, query, go), failureBox(error));
  }
  return null;
}

function rowsView(name, found, query) {
  const columns = found.columns.filter((column) => column.name !== "urn"); // the id links to it
  const rows = found.rows.map((row) => [...columns.map((column) => row[column.name]), row.urn]);
  const cell = (value, column, row) => {
    if (column.name === "id" && row.at(-1)) return el("a", { href: `/entity?urn=${encodeURIComponent(row.at(-1))}` }, String(value));
    if (typeof value === "string" && value.startsWith("urn:reddb:")) return el("a", { href: `/entity?urn=${encodeURIComponent(value)}` }, sourceName(value));
    return plainCell(value);
  };
  const head = (column) => {
    const descending = query.sorted?.[0] === "sort" && query.sorted[1] === column.name;
    const mark = query.sorted?.[1] === column.name ? (descending ? " ↑" : " ↓") : "";
    const href = address((given) => { given.delete("sort"); given.delete("sort_desc"); given.delete("page"); given.set(descending ? "sort_desc" : "sort", column.name); });
    return [el("a", { href, "aria-label": `Order by ${column.name}` }, column.name, mark), " ", el("span", { class: "null" }, column.type)];
  };
  return rows.length ? tableView(columns, rows, { label: `Rows of ${name}`, cell, head }) : el("p", {}, "No row fits.");
}

function pager(count, { page }, go) {
  const pages = Math.max(Math.ceil(count / PAGE), 1);
  const to = (number) => () => go(address((given) => given.set("page", number)));
  return el("nav", { class: "pager", "aria-label": "Pages" },
    button("Previous", to(page - 1), { disabled: page <= 1 }), el("span", {}, `page ${page.toLocaleString("en")} of ${pages.toLocaleString("en")} · ${plural(count, "row")}`), button("Next", to(page + 1), { disabled: page >= pages }));
}

function filterForm(columns, { filters }, go) {
  const rows = el("div", { class: "filters" });
  const add = (chosen = {}) => {
    const column = el("select", { "aria-label": "Column" }, columns.map((each) => el("option", { value: each.name }, each.name)));
    const operator = el("select", { "aria-label": "Condition" }, Object.entries(OPERATORS).map(([key, each]) => el("option", { value: key }, each.name)));
    const value = el("input", { "aria-label": "Value", value: chosen.value ?? "" });
    if (chosen.column) column.value = chosen.column;
    operator.value = chosen.operator ?? "contains";
    const row = el("div", {}, column, operator, value, button("Remove", () => { row.remove(); }, { class: "quiet" }));
    row.read = () => [`${column.value}__${operator.value}`, value.value];
    rows.append(row);
  };
  filters.forEach(add);
  return el("form", { on: { submit: (event) => {
    event.preventDefault();
    go(address((given) => {
      for (const key of [...given.keys()]) if (key.includes("__") || key === "page") given.delete(key);
      for (const row of rows.children) given.append(...row.read());
    }));
  } } }, rows, el("p", {}, button("Add a filter", () => add(), { class: "quiet" }), el("button", { type: "submit" }, "Show")));
}
