// The view at /: a conversation. Enter asks, Shift+Enter begins a line.

import { call } from "./api.js";
import { AnswerView } from "./answer.js";
import { button, el, show } from "./dom.js";
import { openExplain } from "./explain.js";
import { conversation, history, questions } from "./history.js";
import { OptionsForm } from "./options.js";

let turns = null;
let views = [];
let options = null;

export function askView(view) {
  turns ??= conversation.load();
  options ??= new OptionsForm();
  views = turns.map((turn) => answered(turn));
  const list = el("div", { class: "turns" }, views.map((each) => each.node));
  const box = el("textarea", { id: "question", rows: 1, placeholder: turns.length ? "Ask on…" : "Ask a question about your data…", "aria-label": "Question", maxlength: 32768 });
  const go = el("button", { type: "submit", class: "main" }, "Ask");
  const ask = async (question) => {
    if (!question.trim() || go.disabled) return;
    const turn = { question, options: options.values(), history: history(turns) };
    const next = answered(turn);
    turns.push(turn);
    views.push(next);
    welcome.remove();
    list.append(next.node);
    box.value = "";
    grow();
    box.placeholder = "Ask on…";
    go.disabled = true;
    next.node.scrollIntoView({ block: "start", behavior: calm() });
    questions.add(question);
    fillPast();
    await next.ask();
    go.disabled = false;
    if (!turns?.includes(turn)) return; // begun anew, or by somebody who left
    conversation.save(turns.filter((each) => each.envelope));
    anew.hidden = false;
    next.node.scrollIntoView({ block: "start", behavior: calm() });
  };
  const again = (turn) => ask(turn.question);
  function answered(turn) {
    const made = new AnswerView(turn);
    made.again = (each) => again(each);
    return made;
  }
  const grow = () => {
    box.rows = Math.min(Math.max(box.value.split("\n").length, 1), 8);
  };
  box.addEventListener("input", grow);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      ask(box.value);
    }
  });
  const form = el("form", { class: "ask-form", on: { submit: (event) => { event.preventDefault(); ask(box.value); } } },
    el("div", { class: "ask-box" }, box, go),
    el("div", { class: "ask-more" }, options.node,
      button("Explain", () => box.value.trim() && openExplain(box.value, options.values()), { class: "quiet", title: "What would be searched and sent, without asking anybody" }),
      past()));
  const anew = button("New conversation", () => {
    conversation.clear();
    turns = [];
    askView(view);
  }, { class: "quiet", hidden: !turns.length });
  const welcome = turns.length ? el("span") : beginning((question) => { box.value = question; box.focus(); });
  show(view, el("h1", { class: "unseen" }, "Ask"), el("div", { class: "conversation" }, el("div", { class: "line-end" }, anew), welcome, list, form));
  if (matchMedia("(min-width: 50rem)").matches) box.focus({ preventScroll: true });
}

function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}

// What there is to ask about.
function beginning(use) {
  const found = el("div", { class: "welcome" }, el("p", { class: "lead" }, "Ask a question over your own data and get an answer you can check."));
  call("GET", "/v1/collections").then(({ collections }) => {
    const named = collections.filter((each) => Object.values(each.entities).some(Boolean));
    if (!named.length) {
      found.append(el("p", {}, "There is nothing here yet that you may read. Owners add files under ", el("a", { href: "/data" }, "Data"), "."));
      return;
    }
    const count = (each) => Object.values(each.entities).reduce((sum, n) => sum + n, 0).toLocaleString("en");
    found.append(el("ul", { class: "chips", "aria-label": "Collections" }, named.slice(0, 24).map((each) => el("li", {}, el("a", { href: `/data/${encodeURIComponent(each.name)}` }, each.name, el("span", {}, ` ${count(each)}`))))));
    found.append(el("p", { class: "note" }, "Enter asks, / goes to the question, 1 to 9 open a source of the last answer, Escape stops or closes."));
  }).catch(() => {});
  return found;
}

let pastList = null;

function past() {
  const keep = el("input", { type: "checkbox", id: "keep" });
  keep.checked = questions.kept();
  keep.addEventListener("change", () => { questions.keep(keep.checked); fillPast(); });
  pastList = el("ul", { class: "past" });
  fillPast();
  return el("details", { class: "history" }, el("summary", {}, "History"),
    el("div", {}, el("p", {}, keep, " ", el("label", { for: "keep" }, "Keep my questions in this browser")),
      el("p", { class: "note" }, "The conversation itself stays in this tab until it is closed. Answers are never kept; signing out forgets everything."), pastList));
}

function fillPast() {
  if (!pastList) return;
  show(pastList, questions.past().map((question) => el("li", {}, button(question.slice(0, 120), () => {
    const box = document.getElementById("question");
    box.value = question;
    box.focus();
  }, { class: "link" }))));
}

export function openNumber(n) {
  views.at(-1)?.openNumber(n);
}

export function stopAsking() {
  const running = views.at(-1);
  if (!running || running.over || !running.stopping) return false;
  running.stop();
  return true;
}

export function forgetConversation() {
  views.at(-1)?.stop();
  turns = null;
  views = [];
  options = null;
}

