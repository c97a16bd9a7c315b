// The script of the page: what keys and buttons do.
import { $, root, store, say } from "./dom.js";
import { announcePage, markCurrent, noteHere, onPage, start, visit } from "./pages.js";
import * as reading from "./reading.js";
import { startOutline } from "./outline.js";
import { move, startFind } from "./find.js";
import { toggleInPlace } from "./subagents.js";
import { startLive } from "./live.js";
import { startSaved } from "./saved.js";
import { startSearch } from "./search.js";
import { openPalette, startPalette } from "./palette.js";

function nextTheme() {
  const themes = ["auto", "dark", "light"];
  const theme = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
  root.dataset.theme = theme;
  store("theme", theme);
  say(`Theme: ${theme}`);
}

const narrow = matchMedia("(max-width: 60rem)"), medium = matchMedia("(max-width: 80rem)");
function togglePane(name) {
  const isOver = name === "list" ? narrow.matches : medium.matches;
  const shown = isOver ? root.classList.toggle(`show-${name}`) : !document.body.classList.contains(`hide-${name}`);
  if (!isOver) {
    const hidden = root.classList.toggle(`hide-${name}`);
    store(`hide-${name}`, hidden ? "1" : "");
  }
  document.querySelector(`[data-action="${name}"]`)?.setAttribute("aria-expanded", String(shown));
  if (isOver && shown) $(name)?.querySelector("a, input, button")?.focus();
}

function goToNeighbor(way) {
  const rows = [...document.querySelectorAll("#list .row")];
  const at = rows.findIndex((row) => row.hasAttribute("aria-current"));
  const row = rows[at < 0 ? 0 : at + way];
  if (row) visit(row.href).then(noteHere);
}

function goToBranch() {
  const links = [...document.querySelectorAll("#inspector a[href*='branch='], #inspector section .outline a")].filter((link) => link.closest("section")?.getAttribute("aria-labelledby") === "branches-heading");
  const at = links.findIndex((link) => link.hasAttribute("aria-current"));
  if (links.length) visit(links[(at + 1) % links.length].href).then(noteHere);
}

// The first conversation is remembered; the second one is compared with it.
let compared = null;
function compare() {
  const name = document.querySelector("article.conversation")?.dataset.name;
  if (!name) return;
  if (!compared || compared === name) {
    compared = name;
    return say("Press x in another conversation to compare it with this one");
  }
  const url = new URL(document.querySelector(".brand").href);
  url.pathname += "compare";
  url.search = new URLSearchParams({ a: compared, b: name });
  compared = null;
  visit(url.href).then(noteHere);
}

const CALLS = "details.tool, details.run";
const actions = {
  theme: nextTheme,
  help: () => $("help").showModal(),
  list: () => togglePane("list"),
  inspector: () => togglePane("inspector"),
  thinking: () => reading.toggle("thinking", "details.thinking"),
  calls: () => reading.toggle("calls", CALLS),
  split: () => reading.toggleClass("split", "split"),
  tokens: () => reading.toggleClass("tokens", "with-tokens"),
  events: () => reading.toggleClass("events", "with-events"),
  next: () => move(1),
  previous: () => move(-1),
};
const focusOn = (id) => {
  if (id === "find" && medium.matches) root.classList.add("show-inspector");
  $(id)?.focus();
  $(id)?.select();
};
const keys = {
  "/": () => focusOn("q"),
  f: () => focusOn("find"),
  j: () => reading.step(".turn", 1),
  k: () => reading.step(".turn", -1),
  J: () => reading.step(".turn.user:has(> .prose, > .long)", 1),
  K: () => reading.step(".turn.user:has(> .prose, > .long)", -1),
  "[": () => goToNeighbor(-1),
  "]": () => goToNeighbor(1),
  e: () => reading.toggle("all", "details"),
  o: reading.toggleTurn,
  t: actions.calls,
  r: () => reading.toggleRaw(reading.currentTurn() || reading.inView()),
  b: goToBranch,
  x: compare,
  g: () => openPalette(),
  "?": actions.help,
};

addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    openPalette();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.matches("input, textarea, select") || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") root.classList.remove("show-list", "show-inspector");
  if (!Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-action]");
  if (button) return actions[button.dataset.action]?.();
  const inPlace = event.target.closest("button.open-in-place");
  if (inPlace) return void toggleInPlace(inPlace, reading.prepare);
  const more = event.target.closest("button.unfold");
  if (more) return void more.closest(".long").classList.toggle("open");
  const raw = event.target.closest("a.raw");
  if (raw && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    reading.toggleRaw(raw.closest(".turn"));
    return;
  }
  if ((root.classList.contains("show-list") && !event.target.closest("#list")) || (root.classList.contains("show-inspector") && !event.target.closest("#inspector, .topbar")))
    root.classList.remove("show-list", "show-inspector");
}, true);

startPalette([
  { label: "All conversations", key: "", run: () => visit(document.querySelector(".brand").href) },
  { label: "Overview: days, cost, tools", key: "", run: () => visit(document.querySelector("a[aria-label='Overview']").href) },
  { label: "Expand or collapse thinking", run: actions.thinking },
  { label: "Expand or collapse tools", key: "t", run: actions.calls },
  { label: "Unified or split diffs", run: actions.split },
  { label: "Show or hide tokens", run: actions.tokens },
  { label: "Show or hide events", run: actions.events },
  { label: "Compare this conversation with another one", key: "x", run: compare },
  { label: "Color theme", run: nextTheme },
  { label: "Show or hide the list", run: actions.list },
  { label: "Show or hide the outline", run: actions.inspector },
  { label: "Keyboard shortcuts", key: "?", run: actions.help },
]);
for (const name of ["list", "inspector"]) if (localStorage.getItem(`aj-hide-${name}`)) root.classList.add(`hide-${name}`);
start();
startSearch();
onPage(() => {
  reading.startReading();
  reading.restoreSwitches();
  startFind();
  startOutline();
  startLive();
  startSaved();
  const list = $("list");
  if (list) markCurrent(list);
});
announcePage();
