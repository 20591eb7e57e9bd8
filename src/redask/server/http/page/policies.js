// /policies: who sees what of a collection, tried on its real rows before it is set; for owners.

import { call } from "./api.js";
import { button, el, plural, show } from "./dom.js";
import { tableView } from "./table.js";
import { failureBox, payloadOf } from "./words.js";

// Logs have rules of their own, which no policy changes.
const LOGS = ["red_ask_audit", "red_access_log"];
const LOG_READERS = "everybody: their own rows; auditors and owners: all";
const TEMPLATE = { read: [{ roles: ["support"], rows: "region = :user.region", hide: [], mask: [] }] };

export async function policiesView(view, { go }) {
  const given = new URLSearchParams(location.search).get("collection");
  const name = LOGS.includes(given) ? null : given;
  const [{ collections }, { policies }, { users }] = await Promise.all([call("GET", "/v1/collections"), call("GET", "/v1/policies"), call("GET", "/v1/users")]);
  const names = [...new Set([...collections.map((each) => each.name), ...Object.keys(policies)])].sort();
  const body = el("div");
  show(view, el("div", {}, el("h1", {}, "Policies"), el("p", { class: "note" }, "Without a policy everybody of the tenant reads a collection, unless the settings say otherwise. Owners read everything."),
    el("div", { class: "bar-line" }, el("label", {}, "Collection", chooser(names.filter((each) => !LOGS.includes(each)), name, (chosen) => go(`/policies?collection=${encodeURIComponent(chosen)}`)))),
    name ? body : overview(names, policies)));
  if (name) await editor(body, name, policies[name] ?? null, users, go);
}

function chooser(names, name, choose) {
  const select = el("select", { "aria-label": "Collection", on: { change: (event) => choose(event.currentTarget.value) } }, el("option", { value: "" }, "choose…"), names.map((each) => el("option", { value: each }, each)));
  select.value = name ?? "";
  return select;
}

function overview(names, policies) {
  const rows = names.map((name) => [name, LOGS.includes(name) ? LOG_READERS : policies[name]]);
  const cell = (value, column) => {
    if (LOGS.includes(value)) return value;
    if (column.name === "collection") return el("a", { href: `/policies?collection=${encodeURIComponent(value)}` }, value);
    if (value === LOG_READERS) return value;
    return value ? value.read.map((rule) => el("div", {}, ruleWords(rule))) : "everybody of the tenant";
  };
  return tableView([{ name: "collection" }, { name: "who reads it, beside owners" }], rows, { label: "Policies", cell });
}

function ruleWords(rule) {
  const parts = [rule.roles.map((role) => (role === "*" ? "everybody else" : role)).join(", ")];
  if (rule.rows) parts.push(`rows where ${rule.rows}`);
  for (const [key, word] of [["hide", "without"], ["mask", "masked"], ["show", "only"]]) if (rule[key]?.length) parts.push(`${word} ${rule[key].join(", ")}`);
  return parts.join(" · ");
}

async function editor(into, name, policy, users, go) {
  const area = el("textarea", { class: "code", rows: 10, spellcheck: "false", "aria-label": "Policy as JSON", value: pretty(policy ?? TEMPLATE) });
  const roles = [...new Set([...users.map((each) => each.role), ...(policy?.read ?? []).flatMap((rule) => rule.roles)])].filter((role) => role !== "*" && role !== "owner").sort();
  const whom = el("select", { "aria-label": "Who would read" },
    users.length ? el("optgroup", { label: "Users" }, users.map((each) => el("option", { value: `user:${each.name}` }, `${each.name} (${each.role})`))) : null,
    el("optgroup", { label: "Roles" }, (roles.length ? roles : ["anybody"]).map((role) => el("option", { value: `role:${role}` }, `role ${role}`))));
  const told = el("div", { "aria-live": "polite" });
  const now = el("div", {}, el("p", { class: "note" }, "Counting…"));
  let tried = null; // the text that was tried: only that can be set
  const set = button("Set this policy", async () => {
    try {
      await call("PUT", `/v1/policies/${encodeURIComponent(name)}`, { policy: JSON.parse(tried) });
      go(`/policies?collection=${encodeURIComponent(name)}`);
    } catch (error) {
      show(told, failureBox(error));
    }
  }, { class: "main", disabled: true });
  area.addEventListener("input", () => { set.disabled = area.value !== tried; });
  const tryOut = button("Try it", async () => {
    try {
      const [kind, ...rest] = whom.value.split(":");
      const document_ = parsed(area.value);
      const found = await call("POST", `/v1/policies/${encodeURIComponent(name)}/preview`, { policy: document_, [kind]: rest.join(":"), sample: 10 });
      tried = area.value;
      set.disabled = false;
      show(told, previewView(found));
    } catch (error) {
      tried = null;
      set.disabled = true;
      show(told, failureBox(error.kind ? error : { kind: "bad_ask", message: error.message }));
    }
  });
  const drop = policy ? button("Remove the policy", async () => {
    await call("PUT", `/v1/policies/${encodeURIComponent(name)}`, { policy: null });
    go(`/policies?collection=${encodeURIComponent(name)}`);
  }, { class: "quiet" }) : null;
  show(into, el("div", { class: "grid-2" },
    el("section", { class: "card" }, el("h2", {}, policy ? "The policy" : "A policy (there is none yet)"), area, el("p", { class: "bar-line" }, el("label", {}, "Try it as", whom), tryOut, set, drop), told),
    el("section", { class: "card" }, el("h2", {}, "Who reads what now"), now)));
  show(now, await inForce(name, users, roles));
}

// A rule a block, a key a line.
function pretty(policy) {
  const rules = policy.read.map((rule) => `    {${Object.entries(rule).map(([key, value]) => `"${key}": ${JSON.stringify(value)}`).join(",\n     ")}}`);
  return `{"read": [\n${rules.join(",\n")}\n]}`;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`this is no JSON: ${error.message}`);
  }
}

async function inForce(name, users, roles) {
  const whose = [...users.slice(0, 30).map((each) => ({ user: each.name })), ...(users.length ? [] : roles.map((role) => ({ role })))];
  if (!whose.length) return el("p", { class: "note" }, "There are no users yet: `redask user add` adds them.");
  const found = await Promise.all(whose.map((each) => call("POST", `/v1/policies/${encodeURIComponent(name)}/preview`, { ...each, sample: 0 })));
  return found.map((each) => el("div", {}, el("p", {}, el("strong", {}, each.user || each.role), ` (${each.role}) reads ${each.rows.toLocaleString("en")} of ${plural(each.rows_in_all, "row")}. `, columnsWords(each)), share(each)));
}

function previewView(found) {
  const rows = found.sample.map(payloadOf);
  const names = [...new Set(rows.flatMap(Object.keys))];
  return el("div", { class: "preview" },
    el("p", {}, el("strong", {}, found.user || `role ${found.role}`), found.readable ? ` would read ${found.rows.toLocaleString("en")} of ${plural(found.rows_in_all, "row")}. ` : " would read nothing. ", columnsWords(found)),
    share(found),
    rows.length ? tableView(names.map((each) => ({ name: each })), rows.map((row) => names.map((each) => row[each])), { label: "Rows as they would be shown" }) : null);
}

function columnsWords(found) {
  const parts = [];
  if (found.hidden.length) parts.push(`hidden: ${found.hidden.join(", ")}`);
  if (found.masked.length) parts.push(`masked: ${found.masked.join(", ")}`);
  if (found.shown) parts.push(`only: ${found.shown.join(", ")}`);
  return parts.join("; ");
}

function share(found) {
  const part = found.rows_in_all ? found.rows / found.rows_in_all : 0;
  const inner = el("div");
  inner.style.width = `${Math.round(part * 100)}%`;
  return el("div", { class: "share", role: "img", "aria-label": `${found.rows} of ${found.rows_in_all} rows` }, inner);
}
