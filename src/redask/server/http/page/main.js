// The page: who is signed in, which view an address shows, keys that work everywhere.

import { call, onSignedOut } from "./api.js";
import { askView, forgetConversation, openNumber, stopAsking } from "./ask.js";
import { auditView } from "./audit.js";
import { dataView } from "./data.js";
import { button, el, show } from "./dom.js";
import { entityView } from "./entity.js";
import { belongTo, nameOf, theme } from "./history.js";
import { policiesView } from "./policies.js";
import { closeSide } from "./side.js";
import { signInView } from "./sign_in.js";
import { failureBox } from "./words.js";

const PLACES = [
  { path: "/", name: "Ask", view: askView },
  { path: "/data", name: "Data", view: dataView },
  { path: "/entity", view: entityView },
  { path: "/audit", name: "Audit", view: auditView },
  { path: "/policies", name: "Policies", view: policiesView, for: ["owner"] },
];
const THEMES = { "": "light or dark as the system", light: "light", dark: "dark" };

let who = null;

function placeOf(path) {
  return PLACES.find((each) => path === each.path || (each.path !== "/" && path.startsWith(`${each.path}/`))) ?? PLACES[0];
}

export function go(address) {
  if (address !== location.pathname + location.search) history.pushState(null, "", address);
  route();
}

function route() {
  const view = document.getElementById("view");
  closeSide();
  header();
  if (!who?.signed_in) {
    signInView(view, meet);
    return;
  }
  const place = placeOf(location.pathname);
  document.title = place.name && place.path !== "/" ? `${place.name} · redask` : "redask";
  Promise.resolve(place.view(view, { who, go })).catch((error) => show(view, failureBox(error)));
  window.scrollTo(0, 0);
}

function header() {
  const here = placeOf(location.pathname);
  const places = who?.signed_in ? PLACES.filter((each) => each.name && (!each.for || each.for.includes(who.role))) : [];
  const current = here.path === "/entity" ? "/data" : here.path;
  show(document.getElementById("places"), places.map((each) => el("a", { href: each.path, "aria-current": each.path === current ? "page" : null }, each.name)));
  const look = button("", changeTheme, { class: "quiet", "aria-label": `Colours: ${THEMES[theme.get()]}`, title: `Colours: ${THEMES[theme.get()]}` });
  look.textContent = { "": "◐", light: "○", dark: "●" }[theme.get()];
  show(document.getElementById("who"), look,
    who?.signed_in ? el("span", { class: "user", title: `tenant ${who.tenant}` }, `${who.user} · ${who.role}`) : null,
    who?.signed_in && !who.anonymous ? button("Sign out", signOut, { class: "quiet" }) : null);
}

function changeTheme() {
  const order = ["", "light", "dark"];
  theme.set(order[(order.indexOf(theme.get()) + 1) % order.length]);
  applyTheme();
  header();
}

function applyTheme() {
  document.documentElement.dataset.theme = theme.get();
}

async function signOut() {
  await call("DELETE", "/v1/session").catch(() => {});
  signedOut();
}

function signedOut() {
  if (who?.signed_in && !who.anonymous) meet(null);
}

// Somebody else is here, or nobody: nothing of who was here before stays.
function meet(found) {
  belongTo(found);
  forgetConversation();
  who = found;
  route();
}

// Another tab, or an address that signs in, may have changed whose the session is.
async function lookAgain() {
  const before = who;
  const found = await call("GET", "/v1/session").catch(() => before);
  if (who === before && nameOf(found) !== nameOf(before)) meet(found);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const href = link.getAttribute("href");
  if (!href.startsWith("/") || link.hasAttribute("download")) return;
  event.preventDefault();
  go(href);
});

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select");
  if (event.key === "Escape") {
    for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
    if (!stopAsking()) closeSide();
  } else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    if (event.key === "/") {
      event.preventDefault();
      const box = document.querySelector("#question, #search");
      if (box) box.focus();
      else go("/");
    } else if (/^[1-9]$/.test(event.key)) openNumber(Number(event.key));
  }
});

window.addEventListener("popstate", route);
window.addEventListener("focus", lookAgain);
window.addEventListener("pageshow", (event) => event.persisted && lookAgain());
onSignedOut(signedOut);
applyTheme();
call("GET", "/v1/session").catch(() => null).then(meet);
