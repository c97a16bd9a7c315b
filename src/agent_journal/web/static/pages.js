// Goes from page to page without loading the frame again: the panes that differ are replaced.
import { $, fetchPage, root, debounce } from "./dom.js";

const listeners = [];
export function onPage(callback) {
  listeners.push(callback);
}
export function announcePage() {
  for (const callback of listeners) callback();
}

history.scrollRestoration = "manual";

// `way` is "push" for a new entry of the history, "replace", or "none" if the browser has changed it already.
export async function visit(url, { way = "push", scroll = null, focus = true } = {}) {
  const target = new URL(url, location.href);
  root.classList.add("loading");
  const page = await fetchPage(target.href);
  if (!page) return false;
  root.classList.remove("loading", "show-list", "show-inspector", "offline");
  if (way === "push") history.pushState({}, "", target.href);
  if (way === "replace") history.replaceState({}, "", target.href);
  document.title = page.title;
  document.body.className = page.body.className;
  replacePanes(page);
  const query = $("q"), fresh = page.getElementById("q");
  if (fresh && document.activeElement !== query) query.value = fresh.value;
  announcePage();
  if (scroll !== null) scrollTo(0, scroll);
  else if (!goToAnchor(target.hash)) scrollTo(0, 0);
  if (focus) $("main").focus({ preventScroll: true });
  return true;
}

function replacePanes(page) {
  const panes = document.querySelector(".panes"), fresh = page.querySelector(".panes");
  const list = $("list"), freshList = page.getElementById("list");
  if (list && freshList && list.dataset.key === freshList.dataset.key && list.className === freshList.className) {
    const top = list.scrollTop;
    // Filters are replaced when those of the new search have arrived.
    if (freshList.dataset.address) list.dataset.address = freshList.dataset.address;
    freshList.replaceWith(list);
    panes.replaceWith(fresh);
    list.scrollTop = top;
    markCurrent(list);
  } else {
    panes.replaceWith(fresh);
  }
}

// Mark the row of the conversation that is shown.
export function markCurrent(list) {
  for (const row of list.querySelectorAll(".row")) {
    const is = new URL(row.href).pathname === location.pathname;
    if (is) {
      row.setAttribute("aria-current", "page");
      row.scrollIntoView({ block: "nearest" });
    } else row.removeAttribute("aria-current");
  }
}

function goToAnchor(hash) {
  const target = hash.length > 1 && $(decodeURIComponent(hash.slice(1)));
  if (!target) return false;
  target.scrollIntoView({ block: "start" });
  return true;
}

function isOurs(link) {
  const url = new URL(link.href);
  return url.origin === location.origin && !link.target && !link.hasAttribute("download") && !/\/(media|static|download)\//.test(url.pathname);
}

let here = location.pathname + location.search;
export function start() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (!isOurs(link)) return;
    const url = new URL(link.href);
    if (url.hash && url.pathname + url.search === location.pathname + location.search) return;
    event.preventDefault();
    visit(url.href).then(noteHere);
  });
  document.addEventListener("click", (event) => {
    const mark = event.target.closest("[data-href]");
    if (mark) visit(mark.dataset.href).then(noteHere);
  });
  addEventListener("popstate", (event) => {
    if (location.pathname + location.search === here) return;
    noteHere();
    visit(location.href, { way: "none", scroll: event.state?.scroll ?? null, focus: false });
  });
  addEventListener("scroll", debounce(() => {
    history.replaceState({ ...history.state, scroll: scrollY }, "");
  }, 200), { passive: true });
}

export function noteHere() {
  here = location.pathname + location.search;
}
