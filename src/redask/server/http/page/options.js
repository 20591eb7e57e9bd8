// The options of an ask, behind one control: what stands here goes along with every question.

import { button, el } from "./dom.js";

const ROWS = [
  { key: "strict", label: "Hold the answer to its sources", kind: "choice", choices: [["", "as the server is set"], ["true", "strictly"], ["supported", "every sentence must be supported"], ["false", "leniently"]], read: (text) => ({ true: true, false: false }[text] ?? text) },
  { key: "plan", label: "Compute over tables", kind: "choice", choices: [["", "where certain (auto)"], ["off", "never"], ["only", "only show the statement"]] },
  { key: "collection", label: "Collections", hint: "names, with commas; all if empty", read: (text) => text.split(",").map((each) => each.trim()).filter(Boolean) },
  { key: "using", label: "Providers", hint: "in order of failover: openai, extractive" },
  { key: "model", label: "Model" },
  { key: "limit", label: "Most sources", kind: "number", min: 1, max: 200, hint: "20" },
  { key: "depth", label: "Depth of links", kind: "number", min: 0, max: 10, hint: "2" },
  { key: "min_score", label: "Least score", kind: "number", min: 0, max: 1, step: "any" },
  { key: "steps", label: "Statements", kind: "number", min: 1, max: 2 },
  { key: "temperature", label: "Temperature", kind: "number", min: 0, max: 2, step: "any" },
  { key: "seed", label: "Seed", hint: "digits", read: (text) => text },
  { key: "cache", label: "Keep the answer for", hint: "5m, 1h, 1d", read: (text) => ({ ttl: text }) },
  { key: "nocache", label: "Do not use kept answers", kind: "check" },
];

export class OptionsForm {
  constructor() {
    this.inputs = {};
    const rows = ROWS.map((row) => {
      const id = `option-${row.key}`;
      const input = this.inputs[row.key] = control(row, id);
      input.addEventListener("input", () => this.count());
      return el("div", { class: "option" }, el("label", { for: id }, row.label), input);
    });
    this.summary = el("summary", {}, "Options");
    this.node = el("details", { class: "options" }, this.summary,
      el("div", { class: "option-grid" }, rows), button("Reset", () => this.reset(), { class: "quiet" }));
  }

  count() {
    const set = Object.keys(this.values()).length;
    this.summary.textContent = set ? `Options (${set} set)` : "Options";
  }

  reset() {
    for (const input of Object.values(this.inputs)) {
      if (input.type === "checkbox") input.checked = false;
      else input.value = "";
    }
    this.count();
  }

  // Only what was chosen: the server knows its own defaults.
  values() {
    const found = {};
    for (const row of ROWS) {
      const input = this.inputs[row.key];
      if (row.kind === "check") {
        if (input.checked) found[row.key] = true;
      } else if (input.value.trim()) {
        const text = input.value.trim();
        found[row.key] = row.read ? row.read(text) : row.kind === "number" ? Number(text) : text;
      }
    }
    return found;
  }
}

function control(row, id) {
  if (row.kind === "choice") {
    return el("select", { id }, row.choices.map(([value, text]) => el("option", { value }, text)));
  }
  if (row.kind === "check") return el("input", { id, type: "checkbox" });
  const { min = null, max = null, step = null } = row;
  return el("input", { id, type: row.kind === "number" ? "number" : "text", min, max, step, placeholder: row.hint ?? null, autocomplete: "off" });
}
