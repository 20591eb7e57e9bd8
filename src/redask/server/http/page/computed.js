// A computed answer: the statement, its result and a chart; edited, it is run again as a SELECT.

import { select } from "./api.js";
import { suggested } from "./chart.js";
import { button, download, el, plural, show } from "./dom.js";
import { csv, plainCell, tableView } from "./table.js";
import { failureBox } from "./words.js";

// The payload of a `query` source; cells that quotations name are marked.
// Where the answer itself tells all rows (`toldRows`), the table is folded.
export function resultView(payload, { quotes = [], toldRows = false } = {}) {
  const result = el("div", { class: "result" });
  let folded = toldRows;
  const told = (columns, rows, count, cells) => {
    const note = rows.length < count ? `${plural(rows.length, "row")} of ${count.toLocaleString("en")} are shown.` : plural(count, "row");
    const table = tableView(columns, rows, { label: "Result", note, cell: cells });
    show(result, suggested(columns, rows), folded ? el("details", {}, el("summary", {}, `Result: ${note}`), table) : table,
      rows.length ? button("Save as CSV", () => download("result.csv", "text/csv", csv(columns, rows)), { class: "quiet" }) : null);
  };
  const run = payload.columns.length > 0;
  if (run) told(payload.columns, payload.rows, payload.row_count, quotedCells(payload, quotes));
  else show(result, el("p", { class: "note" }, "This statement was not run."));
  folded = false; // what is run again is shown
  return el("div", { class: "computed" }, editor(payload.sql, told, result), result);
}

function quotedCells(payload, quotes) {
  const named = new Set(quotes.flatMap((each) => each.place?.columns ?? []));
  return (value, column, row) => {
    const address = `rows.${payload.rows.indexOf(row)}.${column.name}`;
    const content = plainCell(value);
    return named.has(address) ? el("mark", {}, content) : content;
  };
}

function editor(sql, told, result) {
  const lines = Math.min(Math.max(sql.split("\n").length, Math.ceil(sql.length / 70)), 12);
  const area = el("textarea", { class: "code", rows: lines, spellcheck: "false", "aria-label": "SELECT statement", value: sql });
  const run = async () => {
    go.disabled = true;
    try {
      const found = await select(area.value, [], 1000);
      told(found.columns, found.rows.map((row) => found.columns.map((column) => row[column.name])), found.row_count);
    } catch (error) {
      show(result, failureBox(error));
    } finally {
      go.disabled = false;
    }
  };
  const go = button("Run", run, { title: "Ctrl+Enter" });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  });
  return el("div", { class: "sql" }, area, go);
}
