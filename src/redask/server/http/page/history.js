// What this browser remembers. Questions and answers are as sensitive as the data behind them:
//
//   the conversation    in this tab only, until it is closed (sessionStorage)
//   past questions      only if somebody says so, without answers (localStorage); signing out forgets
//   light or dark       always
//
// Conversation and questions are kept with the name of whose they are, and read by nobody else.
// No token is ever kept: the session's cookie cannot be read here.

const TURNS = "redask.conversation";
const KEEP = "redask.keep-questions";
const PAST = "redask.questions";
const THEME = "redask.theme";
const MOST_TURNS = 20;
const MOST_PAST = 100;

let owner = ""; // who is here, as `nameOf` says; nobody: ""

function read(store, key, otherwise) {
  try {
    return JSON.parse(store.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function write(store, key, value) {
  try {
    store.setItem(key, JSON.stringify(value));
  } catch {
    // full, or not allowed: then it is not remembered
  }
}

export function nameOf(who) {
  return who?.signed_in ? JSON.stringify([who.tenant, who.user]) : "";
}

// Tells who is here: what was kept by anybody else is forgotten.
export function belongTo(who) {
  owner = nameOf(who);
  if (!owner || read(sessionStorage, TURNS, null)?.owner !== owner) sessionStorage.clear();
  if (!questions.kept()) questions.keep(false);
}

export const conversation = {
  load: () => read(sessionStorage, TURNS, { turns: [] }).turns,
  save(turns) {
    for (let kept = turns.slice(-MOST_TURNS); ; kept = kept.slice(1)) {
      try {
        sessionStorage.setItem(TURNS, JSON.stringify({ owner, turns: kept }));
        return;
      } catch {
        if (!kept.length) return;
      }
    }
  },
  clear: () => sessionStorage.removeItem(TURNS),
};

export const questions = {
  kept: () => owner !== "" && read(localStorage, KEEP, null) === owner,
  keep(yes) {
    if (yes) write(localStorage, KEEP, owner);
    else {
      localStorage.removeItem(KEEP);
      localStorage.removeItem(PAST);
    }
  },
  past() {
    return this.kept() ? read(localStorage, PAST, []) : [];
  },
  add(question) {
    if (this.kept()) write(localStorage, PAST, [question, ...this.past().filter((each) => each !== question)].slice(0, MOST_PAST));
  },
};

export const theme = {
  get: () => read(localStorage, THEME, ""),
  set: (value) => (value ? write(localStorage, THEME, value) : localStorage.removeItem(THEME)),
};

// The turns that go along with a question: the last ones, as many as the server takes.
export function history(turns) {
  const kept = [];
  let size = 0;
  for (const turn of [...turns].reverse()) {
    if (!turn.envelope) continue;
    const one = { question: turn.question, answer: turn.envelope.answer };
    size += new TextEncoder().encode(one.question + one.answer).length;
    if (kept.length === MOST_TURNS || size > 60 * 1024) break;
    kept.unshift(one);
  }
  return kept;
}
