// What people read: errors, warnings, verdicts and sources in plain words.

import { el } from "./dom.js";

export const VERDICTS = {
  supported: { sign: "✓", word: "said by its source", text: "The source it cites says this. Whether this answers the question is not checked." },
  unsupported: { sign: "!", word: "not said by its source", text: "The sources it cites do not say this." },
  contradicted: { sign: "✕", word: "contradicted by its source", text: "The sources it cites say otherwise." },
  uncited: { sign: "?", word: "uncited", text: "Uncited: no source is named for it." },
  nothing_to_check: { sign: "–", word: "not checkable", text: "Not checkable: there is no fact in it to check." },
};

const FAILURES = {
  bad_ask: "The question or an option is not valid.",
  unauthenticated: "You are not signed in any more.",
  denied: "You may not do that, or not read that.",
  limit_exceeded: "This is more than a limit allows.",
  ungrounded: "The answer was refused: it was not held by its sources, also when asked for again.",
  overloaded: "The server is busy. Try again in a moment.",
  misconfigured: "The server's settings do not fit: tell its operator.",
  provider_refused: "The provider refused the question.",
  providers_exhausted: "No provider could answer.",
  store_failed: "The database could not be read.",
  audit_unavailable: "The audit log could not be written, so there is no answer.",
  deadline_exceeded: "It took longer than allowed.",
  cancelled: "Stopped.",
  not_found: "There is nothing here that you may read.",
  unreachable: "The server cannot be reached.",
  internal: "Something went wrong in the server.",
};
const BY_CODE = {
  400: "bad_ask", 401: "unauthenticated", 403: "denied", 404: "not_found", 413: "limit_exceeded",
  422: "ungrounded", 429: "overloaded", 500: "internal", 502: "provider_refused",
  503: "providers_exhausted", 504: "deadline_exceeded",
};

// An error as a box; a frame of a stream has a code in place of a kind.
export function failureBox(error) {
  const kind = error.kind ?? BY_CODE[error.code] ?? "internal";
  const items = error.validation?.errors ?? [];
  return el(
    "div", { class: "box bad", role: "alert", "data-kind": kind },
    el("strong", {}, FAILURES[kind] ?? FAILURES.internal), " ",
    el("span", {}, error.message ?? ""),
    items.length ? el("ul", {}, items.map((each) => el("li", {}, each.detail))) : null,
  );
}

const WARNINGS = {
  mode_fallback: "This provider cannot cite strictly, so the answer was not held to its sources",
  no_sources: "Nothing was found, so nobody was asked",
  usage_estimated: "The provider told no token counts: they are estimated",
  sources_trimmed: "Not all sources fitted",
  embedding_pending: "Some of the data is not embedded yet",
  malformed: "A footnote is malformed",
  out_of_range: "A footnote names a source that is not there",
  redacted: "Something was kept back from the provider",
  refused: "The data does not hold what was asked",
  conflicting_sources: "Sources disagree",
  price_unknown: "The price of this model is not known",
  embedder_denied: "Your role may not use the embedder, so only words and links were searched",
};
const REFUSED = {
  no_evidence: "no source says it",
  attribute_missing: "this is not recorded",
  entity_missing: "this is not there",
  not_computable: "it cannot be computed with certainty",
  ambiguous: "the question can be read in several ways",
};
const IN_SENTENCES = new Set(["uncited_claim", "unsupported_claim", "contradicted_claim"]);

// What to show of the warnings: those of single sentences stand at the sentences.
export function warnings(list) {
  return list
    .filter((each) => !IN_SENTENCES.has(each.kind) && each.kind !== "understood_as")
    .map((each) => {
      const detail = each.kind === "refused" ? refusal(each.detail) : each.detail;
      return `${WARNINGS[each.kind] ?? each.kind}${detail ? `: ${detail}` : ""}.`.replace("..", ".");
    });
}

function refusal(detail) {
  const [why, ...rest] = detail.split(/[: ]/);
  const about = detail.slice(why.length).replace(/^[: ]+/, "");
  return (REFUSED[why] ?? why) + (rest.length && about ? ` (${about})` : "");
}

export const RESETS = {
  retry: "The first attempt did not hold to its sources. It was discarded, and the provider asked once more.",
  failover: "The provider failed on the way. What it said was discarded, and the next one asked.",
};

// A URN in parts, decoded; null for what is none.
export function parseUrn(urn) {
  const found = /^urn:reddb:([a-z]+):([^/]*)\/([^#]*)(?:#(.*))?$/.exec(urn);
  if (!found) return null;
  try {
    const [kind, collection, id, fragment] = found.slice(1).map((part) => part && decodeURIComponent(part));
    return { kind, collection, id, fragment };
  } catch {
    return null;
  }
}

// What a source is called, for people.
export function sourceName(urn) {
  const parts = parseUrn(urn);
  if (!parts) return urn;
  if (parts.kind === "query") return "computed result";
  return `${parts.collection} / ${parts.id}${parts.fragment ? ` # ${parts.fragment}` : ""}`;
}

export function payloadOf(source) {
  try {
    const value = JSON.parse(source.payload);
    return value && typeof value === "object" && !Array.isArray(value) ? value : { value };
  } catch {
    return { text: source.payload };
  }
}

// The place of a row of a sheet, and the row without it: it is no column.
export function rowPlace(payload) {
  return typeof payload._place?.cells === "string" ? payload._place : null;
}

export function columnsOf(payload) {
  const { _place, ...columns } = payload;
  return rowPlace(payload) ? columns : payload;
}

export function dollars(cost) {
  if (!cost) return "$0";
  return `$${cost < 0.01 ? cost.toPrecision(2) : cost.toFixed(2)}`;
}

export function when(ns) {
  const ms = Number(BigInt(ns) / 1000000n);
  return new Date(ms).toISOString().replace("T", " ").slice(0, 19);
}
