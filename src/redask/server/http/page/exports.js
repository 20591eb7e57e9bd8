// An answer with its sources as a file: Markdown, HTML, JSON.

import { sourceName } from "./words.js";

const escaped = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

export function asMarkdown(turn) {
  const notes = turn.envelope.citations.map(({ marker, urn }) => `[^${marker}]: ${sourceName(urn)} — \`${urn}\`\n\n        ${turn.envelope.sources_flat[marker - 1]?.payload ?? ""}`);
  return `# ${turn.question.replaceAll("\n", " ")}\n\n${turn.envelope.answer}\n\n${notes.join("\n\n")}\n\n${infoLine(turn.envelope)}\n`;
}

// A document that runs and loads nothing; the answer's own text, with footnotes as links in it.
export function asHtml(turn) {
  const body = escaped(turn.envelope.answer).replaceAll(/\[\^([1-9]\d{0,9})\]/g, '<sup><a href="#s$1">$1</a></sup>');
  const notes = turn.envelope.citations.map(({ marker, urn }) => `<li id="s${marker}" value="${marker}"><p>${escaped(sourceName(urn))}</p><pre>${escaped(turn.envelope.sources_flat[marker - 1]?.payload ?? "")}</pre><code>${escaped(urn)}</code></li>`);
  const style = "body{font:16px/1.5 system-ui;max-width:45em;margin:2em auto;padding:0 1em}pre{white-space:pre-wrap}div{white-space:pre-wrap}";
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>${escaped(turn.question)}</title><style>${style}</style><h1>${escaped(turn.question)}</h1><div>${body}</div><ol>${notes.join("")}</ol><p>${escaped(infoLine(turn.envelope))}</p></html>\n`;
}

export function asJson(turn) {
  return `${JSON.stringify({ question: turn.question, options: turn.options, ...turn.envelope }, null, 2)}\n`;
}

export function infoLine(envelope) {
  return `${envelope.provider} · ${envelope.model} · ${envelope.mode} · ${envelope.prompt_tokens}+${envelope.completion_tokens} tokens · $${envelope.cost_usd}`;
}
