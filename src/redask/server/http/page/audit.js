// /audit: what was asked, by whom, at what cost, and whether the log is whole.
//
// Auditors and owners see their tenant's rows, others their own. The address says the filter:
// ?since= ?until= (days) ?user= ?provider= ?outcome=ok|failed ?before= (a row's number)

import { call, select } from "./api.js";
import { bars, line } from "./chart.js";
import { button, download, el, plural, show } from "./dom.js";
import { openSide } from "./side.js";
import { shown } from "./source.js";
import { tableView } from "./table.js";
import { dollars, failureBox, sourceName, when } from "./words.js";

const PAGE = 50;
const AUDITORS = ["owner", "auditor"];
const DAY_NS = 86400n * 1000000000n;

export async function auditView(view, { who, go }) {
  const given = new URLSearchParams(location.search);
  const { where, params } = filter(given);
  const may = AUDITORS.includes(who.role);
  const state = el("div", {}, may ? el("p", { class: "note" }, "Verifying the chain…") : null);
  const charts = el("div", { class: "grid-2" });
  const rows = el("div");
  show(view, el("div", {}, el("h1", {}, may ? "Audit" : "What you asked"), state, filterForm(given, go), charts, rows));
  if (may) chainState(state);
  await Promise.all([costs(charts, where, params, may), listed(rows, given, where, params, go)]);
}

function filter(given) {
  const conditions = [];
  const params = [];
  const add = (sql, value) => { params.push(value); conditions.push(sql.replace("?", `$${params.length}`)); };
  const ns = (day) => BigInt(Date.parse(`${day}T00:00:00Z`)) * 1000000n;
  if (isDay(given.get("since"))) add("ts >= ?", String(ns(given.get("since"))));
  if (isDay(given.get("until"))) add("ts < ?", String(ns(given.get("until")) + DAY_NS));
  if (given.get("user")) add('"user" = ?', given.get("user"));
  if (given.get("provider")) add("provider = ?", given.get("provider"));
  if (given.get("outcome") === "ok") conditions.push("validation_ok AND refused IS NULL");
  if (given.get("outcome") === "refused") conditions.push("validation_ok AND refused IS NOT NULL");
  if (given.get("outcome") === "failed") conditions.push("NOT validation_ok");
  if (given.get("outcome") === "cached") conditions.push("cache_hit");
  return { where: conditions.length ? ` WHERE ${conditions.join(" AND ")}` : "", params };
}

function isDay(text) {
  return /^\d{4}-\d\d-\d\d$/.test(text ?? "") && !Number.isNaN(Date.parse(text));
}

function filterForm(given, go) {
  const field = (name, type = "text") => el("input", { name, type, value: given.get(name) ?? "" });
  const outcome = el("select", { name: "outcome" }, [["", "all"], ["ok", "answered"], ["refused", "refused: not in the data"], ["failed", "failed or rejected by the checks"], ["cached", "from the cache"]].map(([value, text]) => el("option", { value }, text)));
  outcome.value = given.get("outcome") ?? "";
  const labelled = (text, input) => el("label", {}, text, input);
  return el("form", { class: "bar-line", on: { submit: (event) => {
    event.preventDefault();
    const next = new URLSearchParams([...new FormData(event.currentTarget)].filter(([, value]) => value));
    go(`/audit${next.size ? `?${next}` : ""}`);
  } } }, labelled("Since", field("since", "date")), labelled("Until", field("until", "date")), labelled("User", field("user")), labelled("Provider", field("provider")), labelled("Outcome", outcome), el("button", { type: "submit" }, "Show"));
}

async function chainState(into) {
  try {
    const [asks, accesses] = await Promise.all([call("GET", "/v1/audit/verify"), call("GET", "/v1/audit/verify?log=access")]);
    show(into, [["Audit log", asks], ["Access log", accesses]].map(([name, found]) => el("p", { class: `box ${found.ok ? "good" : "bad"}` }, el("strong", {}, found.ok ? "✓ " : "✕ "), found.ok ? `${name}: ${plural(found.rows, "row")}, all as written; head ${found.head.slice(0, 16)}…` : `${name}: not as written at row ${found.seq}: ${found.reason}`)));
  } catch (error) {
    show(into, failureBox(error));
  }
}

async function costs(into, where, params, may) {
  const grouped = (by, order) => select(`SELECT ${by} AS label, sum(cost_usd) AS cost, count(*) AS asks FROM red_ask_audit${where} GROUP BY 1 ORDER BY ${order} LIMIT 31`, params);
  const [days, users, tenants, providers] = await Promise.all([
    grouped("to_timestamp(ts / 1e9)::date::text", "1 DESC"), grouped('"user"', "2 DESC, 3 DESC, 1"), grouped("tenant", "2 DESC, 1"), grouped("provider", "2 DESC, 3 DESC, 1"),
  ]);
  if (!days.rows.length) return;
  const total = days.rows.reduce((sum, row) => sum + row.cost, 0);
  const paid = total > 0;
  const what = paid ? "Cost" : "Asks"; // where nothing was spent, how often is asked says more
  const points = ({ rows }) => rows.map((row) => ({ label: row.label || "(nobody)", value: paid ? row.cost : Number(row.asks) }));
  const format = paid ? dollars : undefined;
  const dated = points(days);
  const card = (chart) => el("div", { class: "card" }, chart);
  show(into, card(dated.length > 1 ? line(dated, `${what} by day`, format) : bars(dated, `${what} by day`, format)), card(bars(points(providers), `${what} by provider`, format)),
    may ? card(bars(points(users).slice(0, 10), `${what} by user`, format)) : null, may ? card(bars(points(tenants), `${what} by tenant`, format)) : null);
}

async function listed(into, given, where, params, go) {
  const before = /^\d{1,18}$/.test(given.get("before") ?? "") ? given.get("before") : null;
  const page = before ? `${where ? `${where} AND` : " WHERE"} seq < $${params.length + 1}` : where;
  const found = await select(`SELECT seq, ts, "user", question, provider, model, prompt_tokens + completion_tokens AS tokens, cost_usd, cache_hit, retry_count, validation_ok, refused, errors::text AS errors FROM red_ask_audit${page} ORDER BY seq DESC LIMIT ${PAGE}`, before ? [...params, before] : params, PAGE);
  const columns = [{ name: "#", type: "int8" }, { name: "time (UTC)" }, { name: "user" }, { name: "question" }, { name: "outcome" }, { name: "provider" }, { name: "tokens", type: "int8" }, { name: "cost", type: "float8" }];
  const rows = found.rows.map((row) => [row.seq, when(row.ts), row.user, row.question, outcomeOf(row), row.provider, Number(row.tokens), row.cost_usd]);
  const cell = (value, column, row) => {
    if (column.name === "question") return button(String(value).slice(0, 200), () => detail(row[0]), { class: "link" });
    return column.name === "cost" ? dollars(value) : String(value);
  };
  const last = found.rows.at(-1)?.seq;
  show(into, rows.length ? tableView(columns, rows, { label: "Audit rows", cell }) : el("p", {}, "No row fits."),
    el("nav", { class: "pager", "aria-label": "Pages" },
      rows.length === PAGE ? button("Older", () => { const next = new URLSearchParams(location.search); next.set("before", last); go(`/audit?${next}`); }) : null,
      before ? button("Newest", () => { const next = new URLSearchParams(location.search); next.delete("before"); go(`/audit${next.size ? `?${next}` : ""}`); }) : null,
      button("Export all rows (JSON Lines)", exported, { class: "quiet" })));
}

function outcomeOf(row) {
  const errors = JSON.parse(row.errors).map((each) => each.kind);
  if (!row.validation_ok) return `✕ ${[...new Set(errors)].join(", ") || "not answered"}`;
  return [row.refused ? `– refused: ${row.refused}` : "✓ answered", row.cache_hit ? "from the cache" : null, Number(row.retry_count) ? "asked twice" : null, errors.length ? "after a failover" : null].filter(Boolean).join(", ");
}

// A row as the log holds it. What others add beside it (a proof, a replay) is shown with it.
async function detail(seq) {
  const body = el("div");
  openSide(`Audit row ${seq}`, body);
  try {
    const { rows } = await call("GET", `/v1/audit?limit=1&before=${Number(seq) + 1}`);
    const { row, ...beside } = rows[0];
    const { question, sources_urns, errors, ts, ...rest } = row;
    const named = { proof: "proof status", replay: "replay verdict", hash: "hash in the chain", understood: "understood as", refused: "refused because of", today: "date it was asked on" };
    show(body, el("p", { class: "question" }, question), el("p", { class: "note" }, `${when(ts)} UTC`),
      errors.length ? el("ul", {}, errors.map((each) => el("li", {}, `${each.kind}: ${each.detail}`))) : null,
      el("dl", { class: "fields" }, Object.entries({ ...beside, ...rest }).map(([name, value]) => [el("dt", {}, named[name] ?? name), el("dd", {}, shown(value))])),
      el("h3", {}, plural(sources_urns.length, "source")), el("ol", { class: "sources" }, sources_urns.map((urn) => el("li", {}, el("a", { href: `/entity?urn=${encodeURIComponent(urn)}` }, sourceName(urn))))));
  } catch (error) {
    show(body, failureBox(error));
  }
}

async function exported(event) {
  const at = event.currentTarget;
  at.disabled = true;
  const lines = [];
  try {
    for (let before = null; ;) {
      const { rows } = await call("GET", `/v1/audit?limit=1000${before ? `&before=${before}` : ""}`);
      if (!rows.length) break;
      lines.push(...rows.map((row) => JSON.stringify(row)));
      before = rows.at(-1).seq;
      at.textContent = `${lines.length} rows…`;
      if (before <= 1) break;
    }
    download("audit.jsonl", "application/jsonl", `${lines.join("\n")}\n`);
    at.textContent = "Export all rows (JSON Lines)";
  } catch (error) {
    at.textContent = error.message;
  } finally {
    at.disabled = false;
  }
}
