// Search as you type: hits by words at once, hits by meaning when they arrive.
import { $, root, debounce, fetchPage, say } from "./dom.js";
import { startSaved } from "./saved.js";
import { visit, noteHere, onPage } from "./pages.js";

const MEANING_DELAY_MS = 350;
let timer = 0;

function searchUrl(text) {
  const url = new URL($("q").form.action);
  const now = new URL(location.href);
  if (now.pathname === url.pathname)
    for (const [name, value] of now.searchParams) if (!["q", "mode", "offset"].includes(name)) url.searchParams.append(name, value);
  url.searchParams.set("q", text);
  return url;
}

async function search(text) {
  const isThere = location.pathname === new URL($("q").form.action).pathname;
  if (!text && !isThere) return;
  if (await visit(searchUrl(text), { way: isThere ? "replace" : "push", focus: false })) noteHere();
}

const typed = debounce(() => search($("q").value.trim()), 60);

export function startSearch() {
  const input = $("q");
  input.addEventListener("input", typed);
  input.form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = document.querySelector(".hits .snippet");
    if (first && new URL(location.href).searchParams.get("q") === input.value.trim()) first.focus();
    else search(input.value.trim());
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      document.querySelector(".hits .snippet, #list .row")?.focus();
    } else if (event.key === "Escape") input.blur();
  });
  document.addEventListener("keydown", (event) => {
    const hit = document.activeElement?.closest(".hits .snippet");
    if (!hit || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
    event.preventDefault();
    const all = [...document.querySelectorAll(".hits .snippet")];
    (all[all.indexOf(hit) + (event.key === "ArrowDown" ? 1 : -1)] || input).focus();
  });
  document.addEventListener("click", async (event) => {
    const more = event.target.closest("a.more-hits, a.more-rows");
    if (!more || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    await append(more);
  }, true);
  onPage(() => {
    clearTimeout(timer);
    loadFacets();
    const hits = document.querySelector(".hits");
    if (!hits) return;
    say(`${hits.querySelectorAll(".hit").length} results`);
    if (hits.dataset.mode === "lexical" && !new URL(location.href).searchParams.get("offset")) timer = setTimeout(addMeaning, MEANING_DELAY_MS);
  });
}

// What narrows the search, with numbers; it may take longer than the hits.
async function loadFacets() {
  const pane = document.querySelector("#list[data-address]");
  if (!pane || !$("q").value.trim()) return;
  const page = await fetchPage(pane.dataset.address, { alone: false });
  const facets = page?.getElementById("facets");
  if (facets && pane.isConnected) pane.replaceChildren(facets);
}

// The same search by words and meaning; it replaces the hits unless the user has gone on.
async function addMeaning() {
  const hits = document.querySelector(".hits");
  const address = location.href;
  root.classList.add("searching-meaning");
  const page = await fetchPage(hits.dataset.meaning, { alone: false });
  root.classList.remove("searching-meaning");
  const fresh = page?.getElementById("results");
  if (!fresh || location.href !== address || !hits.isConnected || scrollY > 100 || hits.contains(document.activeElement)) return;
  $("results").replaceWith(fresh);
  startSaved();
}

// More rows or hits, below those that are there.
async function append(more) {
  more.setAttribute("aria-busy", "true");
  const page = await fetchPage(more.href, { alone: false });
  if (!page || !more.isConnected) return;
  if (more.classList.contains("more-hits")) {
    document.querySelector(".hits").append(...page.querySelectorAll(".hits > .hit"));
    const next = page.querySelector("a.more-hits");
    if (next) more.replaceWith(next);
    else more.closest(".paging").remove();
    return;
  }
  const parent = more.parentElement, last = [...parent.querySelectorAll(".day-group")].at(-1);
  for (const group of page.querySelectorAll(".day-group"))
    if (group.querySelector("h2").textContent === last?.querySelector("h2").textContent) last.querySelector("ol").append(...group.querySelectorAll("li"));
    else more.before(group);
  const next = page.querySelector("a.more-rows");
  if (next) more.replaceWith(next);
  else more.remove();
}
