// Rows as a table, some at a time; and what they look like as a file.

import { button, el, plural } from "./dom.js";

const STEP = 50;

// `columns` are [{name, type}], `rows` lists of cells; `cell(value, column, row)` makes a cell's content.
export function tableView(columns, rows, { label = "Rows", cell = plainCell, head = (column) => column.name, note = "" } = {}) {
  const body = el("tbody");
  const more = el("p", { class: "more" });
  let shown = 0;
  const grow = () => {
    for (const row of rows.slice(shown, shown + STEP)) {
      body.append(el("tr", {}, columns.map((column, number) => {
        const value = row[number];
        return el("td", { class: isNumber(column.type) ? "number" : isShort(value) ? "short" : null }, cell(value, column, row));
      })));
    }
    shown = Math.min(shown + STEP, rows.length);
    more.replaceChildren();
    if (shown < rows.length) more.append(button(`Show more (${plural(rows.length - shown, "row")} left)`, grow, { class: "quiet" }));
  };
  grow();
  return el(
    "div", { class: "table-box" },
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
      el("table", {},
        el("thead", {}, el("tr", {}, columns.map((column) => el("th", { scope: "col", title: column.type ?? null, class: isNumber(column.type) ? "number" : null }, head(column))))),
        body)),
    more,
    note ? el("p", { class: "note" }, note) : null,
  );
}

function isShort(value) {
  return typeof value !== "object" && String(value).length <= 24;
}

export function plainCell(value) {
  if (value === null || value === undefined) return el("span", { class: "null" }, "null");
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.length > 300 ? el("span", { title: text.slice(0, 2000) }, `${text.slice(0, 300)}…`) : text;
}

const NUMBERS = /^(int|float|numeric|smallint|integer|bigint|real|double|decimal)/;
const DATES = /^(date|timestamp)/;

export function isNumber(type) {
  return NUMBERS.test(type ?? "");
}

export function isDate(type) {
  return DATES.test(type ?? "");
}

export function csv(columns, rows) {
  const quoted = (value) => {
    const text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns.map((column) => column.name), ...rows].map((row) => row.map(quoted).join(",")).join("\r\n");
}
