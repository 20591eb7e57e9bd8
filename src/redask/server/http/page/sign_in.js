// Signing in: a token goes to the server once, and becomes a session that scripts cannot read.

import { call } from "./api.js";
import { button, el, show } from "./dom.js";
import { failureBox } from "./words.js";

// Why an address that signs in did not: told behind #, once.
const REFUSED = {
  code: "This address signs in once, and only for a few minutes: run redask open again.",
  state: "This sign-in was not begun in this browser, or too long ago: begin again.",
  provider: "The identity provider's answer signs nobody in here.",
  busy: "Many people are signing in: try again in a moment.",
  unreachable: "The identity provider cannot be reached now: try again in a moment.",
};

function refused(why) {
  return failureBox({ kind: "denied", message: REFUSED[why] });
}

function refusal() {
  const why = /^#refused=([a-z]+)$/.exec(location.hash)?.[1];
  if (why) history.replaceState(null, "", location.pathname + location.search);
  return Object.hasOwn(REFUSED, why ?? "") ? refused(why) : null;
}

// A button that goes to the identity provider, where the server knows one.
async function offer(place, told) {
  const { offered, provider } = await call("GET", "/sign-in");
  if (!offered) return;
  const leave = async () => {
    try {
      const { url } = await call("POST", "/sign-in");
      if (/^https?:\/\//.test(url)) location.assign(url);
    } catch (error) {
      show(told, error.kind === "store_failed" ? refused("unreachable") : failureBox(error));
    }
  };
  show(place, button(`Sign in with ${provider}`, leave, { class: "main", id: "identity" }), el("p", { class: "note" }, "or"));
}

export function signInView(view, done) {
  const token = el("input", { id: "token", type: "password", autocomplete: "current-password", required: true, spellcheck: "false" });
  const told = el("div", {}, refusal());
  const other = el("div");
  const form = el("form", { class: "card sign-in", on: { submit: async (event) => {
    event.preventDefault();
    try {
      const who = await call("POST", "/v1/session", undefined, { headers: { Authorization: `Bearer ${token.value.trim()}` } });
      token.value = "";
      done(who);
    } catch (error) {
      show(told, failureBox(error.status === 401 ? { kind: "denied", message: "This token is not good here: it is wrong, expired or revoked." } : error));
    }
  } } },
    el("h1", {}, "Sign in"), other,
    el("label", { for: "token" }, "Token"), token,
    el("p", { class: "note" }, "A token of redask (", el("code", {}, "redask token make USER"), "), or one of your identity provider, where the server knows it."),
    el("button", { type: "submit", class: "main" }, "Sign in"), told);
  show(view, form);
  token.focus();
  offer(other, told).catch(() => {});
}
