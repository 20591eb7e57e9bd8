// One turn of a conversation: the question, the answer as it comes, its checks and its sources.

import { stream } from "./api.js";
import { button, copy, download, el, plural, say, show } from "./dom.js";
import { openExplain } from "./explain.js";
import { asHtml, asJson, asMarkdown } from "./exports.js";
import { MarkdownView } from "./markdown.js";
import { resultView } from "./computed.js";
import { openSource } from "./source.js";
import { askStatement, curlCall, pythonCall } from "./statement.js";
import { columnsOf, dollars, failureBox, payloadOf, RESETS, sourceName, VERDICTS, warnings } from "./words.js";

const SHOWN_SOURCES = 12;

export class AnswerView {
  // `turn` is {question, options, history}; `envelope` and `seconds` once it was answered.
  constructor(turn) {
    this.turn = turn;
    this.text = "";
    this.sources = turn.envelope?.sources_flat ?? [];
    this.quotes = [];
    this.notes = el("div", { class: "notes" });
    this.body = el("div", { class: "answer" });
    this.more = el("div", { class: "beside" });
    this.status = el("p", { class: "status" });
    this.markdown = new MarkdownView(this.body, (n) => this.footnote(n));
    this.node = el("section", { class: "turn", "aria-label": turn.question },
      el("h2", { class: "question" }, turn.question), this.notes, this.body, this.status, this.more);
    if (turn.envelope) this.finished(turn.envelope);
  }

  async ask() {
    const { question, options, history } = this.turn;
    const began = performance.now();
    this.stopping = new AbortController();
    this.node.setAttribute("aria-busy", "true");
    show(this.status, el("span", { class: "spinner", "aria-hidden": "true" }), " Searching… ", button("Stop", () => this.stop(), { class: "quiet", "aria-keyshortcuts": "Escape" }));
    try {
      const given = { ...options, evidence: true, ...(history.length ? { history } : {}) };
      await stream({ question, options: given }, (name, payload) => this.hear(name, payload, began), this.stopping.signal);
      if (!this.over) this.fail({ kind: "unreachable", message: "the stream ended early" });
    } catch (error) {
      if (error.name === "AbortError") this.fail({ kind: "cancelled", message: "What was said so far is not an answer." });
      else this.fail(error);
    } finally {
      this.node.removeAttribute("aria-busy");
    }
  }

  stop() {
    this.stopping?.abort();
  }

  get over() {
    return Boolean(this.turn.envelope || this.turn.failed);
  }

  hear(name, payload, began) {
    if (name === "sources") {
      this.sources = payload.sources_flat;
      this.status.childNodes[1].textContent = ` Reading ${plural(this.sources.length, "source")}… `;
    } else if (name === "answer_token") {
      this.text += payload.text;
      this.draw();
    } else if (name === "answer_reset") {
      this.text = "";
      this.draw();
      this.notes.append(el("p", { class: "box warn", "data-reset": payload.reason }, RESETS[payload.reason] ?? payload.reason));
    } else if (name === "error") {
      this.fail(payload);
    } else if (name === "validation") {
      const { audit, citations, evidence = [], ...validation } = payload;
      this.turn.seconds = (performance.now() - began) / 1000;
      this.turn.envelope = { answer: this.text, ...audit, citations, evidence, sources_flat: this.sources, validation };
      this.finished(this.turn.envelope);
      say(`Answered with ${plural(citations.length, "footnote")}.`);
    }
  }

  // At most once a frame, however fast the pieces come.
  draw() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      if (!this.over) this.markdown.update(this.text);
    });
  }

  fail(error) {
    this.turn.failed = { kind: error.kind, code: error.code, message: error.message };
    if (this.text) this.markdown.update("");
    show(this.status);
    this.notes.append(failureBox(error), button("Ask again", () => this.again?.(this.turn), { class: "quiet" }));
    say(error.message);
  }

  finished(envelope) {
    this.text = envelope.answer;
    this.quotes = (envelope.evidence ?? []).flatMap((each) => each.quotes);
    this.markdown.update(envelope.answer, claimsOf(envelope));
    const understood = envelope.validation.warnings.find((each) => each.kind === "understood_as");
    if (understood) this.notes.append(el("p", { class: "understood" }, "Understood as: ", el("q", {}, understood.detail)));
    for (const each of warnings(envelope.validation.warnings)) this.notes.append(el("p", { class: "box warn" }, each));
    show(this.status, verdictLine(envelope.evidence ?? []));
    const query = this.sources[0]?.urn.startsWith("urn:reddb:query:") ? payloadOf(this.sources[0]) : null;
    show(this.more,
      query ? resultView(query, { quotes: this.quotes, toldRows: /^\|.*\|$/m.test(envelope.answer) }) : null,
      this.sourceList(envelope), this.info(envelope), this.actions());
  }

  footnote(n) {
    const found = this.sources[n - 1];
    const open = () => found && openSource(n, this.sources[n - 1], this.quotes);
    return el("sup", {}, button(String(n), open, { class: "footnote", "aria-label": `Source ${n}: ${found ? sourceName(found.urn) : "missing"}` }));
  }

  openNumber(n) {
    if (this.sources[n - 1]) openSource(n, this.sources[n - 1], this.quotes);
  }

  sourceList(envelope) {
    if (!this.sources.length) return null;
    const cited = new Set(envelope.citations.map((each) => each.marker));
    const item = (found, number) => {
      const n = number + 1;
      return el("li", { value: n, class: cited.has(n) ? "cited" : null },
        button(sourceName(found.urn), () => openSource(n, found, this.quotes), { class: "link" }),
        cited.has(n) ? el("span", { class: "tag" }, "cited") : null,
        el("span", { class: "snippet" }, snippet(found)));
    };
    const rows = this.sources.map((found, number) => ({ found, number }));
    const list = el("ol", { class: "sources" }, rows.slice(0, SHOWN_SOURCES).map(({ found, number }) => item(found, number)));
    const rest = rows.slice(SHOWN_SOURCES);
    const more = rest.length ? button(`Show all ${this.sources.length}`, (event) => {
      list.append(...rest.map(({ found, number }) => item(found, number)));
      event.currentTarget.remove();
    }, { class: "quiet" }) : null;
    return el("details", { class: "source-list" }, el("summary", {}, `${plural(this.sources.length, "source")}, ${cited.size} cited`), list, more);
  }

  info(envelope) {
    const parts = [
      envelope.provider, envelope.model,
      `${envelope.prompt_tokens.toLocaleString("en")} + ${envelope.completion_tokens.toLocaleString("en")} tokens`,
      dollars(envelope.cost_usd), envelope.cache_hit ? "from the cache" : "not cached", envelope.mode,
      envelope.retry_count ? "asked twice" : null,
      this.turn.seconds === undefined ? null : `${this.turn.seconds.toFixed(2)} s`,
    ];
    return el("p", { class: "info" }, parts.filter(Boolean).join(" · "));
  }

  actions() {
    const { question, options } = this.turn;
    const file = (name, type, make) => button(name, () => download(`answer.${name.toLowerCase().slice(0, 4)}`.replace(".mark", ".md"), type, make(this.turn)), { class: "quiet" });
    const copied = (name, make) => button(name, (event) => copy(make(), event.currentTarget), { class: "quiet" });
    return el("div", { class: "actions" },
      button("Explain", () => openExplain(question, { ...options, ...(this.turn.history.length ? { history: this.turn.history } : {}) }), { class: "quiet" }),
      el("details", { class: "menu" }, el("summary", {}, "Copy"), el("div", {},
        copied("Answer", () => asMarkdown(this.turn)),
        copied("ASK statement", () => askStatement(question, options)),
        copied("curl", () => curlCall(question, options)),
        copied("Python", () => pythonCall(question, options)))),
      el("details", { class: "menu" }, el("summary", {}, "Save"), el("div", {},
        file("Markdown", "text/markdown", asMarkdown), file("HTML", "text/html", asHtml), file("JSON", "application/json", asJson))));
  }
}

// Evidence counts code points; strings here count UTF-16 units. Blanks at the end are no claim.
function claimsOf({ answer, evidence = [] }) {
  const wanted = new Set(evidence.flatMap(({ claim }) => [claim.start, claim.end]));
  const units = new Map();
  let [at, count] = [0, 0];
  for (const character of answer) {
    if (wanted.has(count)) units.set(count, at);
    at += character.length;
    count += 1;
  }
  units.set(count, at);
  return evidence
    .map(({ claim, verdict }) => {
      const start = units.get(claim.start) ?? 0;
      const whole = answer.slice(start, units.get(claim.end) ?? start);
      return { start, end: start + whole.trimEnd().length, verdict };
    })
    .filter((each) => each.end > each.start);
}

function verdictLine(evidence) {
  const counts = Object.keys(VERDICTS).map((verdict) => [verdict, evidence.filter((each) => each.verdict === verdict).length]);
  const told = counts.filter(([, count]) => count);
  if (!told.length) return null;
  return el("span", { class: "verdicts" }, told.map(([verdict, count]) => el("span", { class: `verdict-count ${verdict}`, title: VERDICTS[verdict].text },
    el("span", { class: `verdict ${verdict}`, "aria-hidden": "true" }, VERDICTS[verdict].sign), `${count} ${VERDICTS[verdict].word}`)));
}

function snippet(found) {
  const payload = payloadOf(found);
  if (payload.sql) return payload.sql;
  const text = payload.text ?? Object.entries(columnsOf(payload)).map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ");
  return String(text).slice(0, 160);
}
