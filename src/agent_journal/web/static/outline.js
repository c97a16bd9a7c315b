// The outline of a conversation, and the rail that shows where what is.
import { $, fetchPage } from "./dom.js";
import { conversation, goTo } from "./reading.js";

const KINDS = { prompts: "prompt", edits: "changed", errors: "failed" };
let found = [];

export async function startOutline() {
  const text = conversation();
  const rail = $("rail");
  if (!text || !rail) return;
  found = [];
  const url = new URL(text.dataset.outline, location.href);
  url.searchParams.set("branch", text.dataset.branch);
  const page = await fetchPage(url, { alone: false });
  const content = page?.getElementById("outline-content");
  if (!content || text !== conversation()) return;
  $("outline").replaceChildren(content);
  $("outline").addEventListener("click", (event) => {
    const link = event.target.closest("a[data-position]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    goTo(Number(link.dataset.position), decodeURIComponent(new URL(link.href).hash.slice(1)));
  });
  draw();
  locate();
}

export function showFound(hits) {
  found = hits;
  draw();
}

// One line for each thing; in one place, there are at most a few hundred.
function draw() {
  const rail = $("rail"), text = conversation(), content = $("outline-content");
  if (!rail || !text) return;
  const total = Math.max(Number(text.dataset.total), 1);
  const lines = [];
  const add = (kind, position) => {
    const line = document.createElement("i");
    line.className = kind;
    line.style.top = `${(100 * position) / total}%`;
    lines.push(line);
  };
  for (const kind of Object.keys(KINDS))
    for (const position of (content?.dataset[kind] || "").split(" ").filter(Boolean)) add(KINDS[kind], Number(position));
  for (const [position] of found.slice(0, 1000)) add("found", position);
  const view = document.createElement("i");
  view.className = "view";
  rail.replaceChildren(view, ...lines);
  rail.onclick = (event) => {
    const box = rail.getBoundingClientRect();
    goTo(Math.min(Math.floor(((event.clientY - box.top) / box.height) * total), total - 1), null);
  };
  locate();
}

// Where the window is, on the rail and in the outline.
let waiting = 0;
function locate() {
  waiting = 0;
  const text = conversation(), view = document.querySelector("#rail .view");
  if (!text || !view) return;
  const total = Math.max(Number(text.dataset.total), 1);
  let first = null, last = 0;
  for (const chunk of text.querySelectorAll(".chunk")) {
    const box = chunk.getBoundingClientRect();
    if (box.bottom < 60 || box.top > innerHeight) continue;
    const start = Number(chunk.dataset.start), size = Number(chunk.dataset.stop) - start;
    const at = (y) => start + size * Math.min(Math.max((y - box.top) / Math.max(box.height, 1), 0), 1);
    first ??= at(60);
    last = at(innerHeight);
  }
  first ??= 0;
  view.style.top = `${(100 * first) / total}%`;
  view.style.height = `${Math.max((100 * (last - first)) / total, 0.4)}%`;
  const links = [...document.querySelectorAll("#outline .prompts a")];
  const here = links.findLast((link) => Number(link.dataset.position) <= first + 1) || links[0];
  for (const link of links) if (link !== here) link.removeAttribute("aria-current");
  if (here && !here.hasAttribute("aria-current")) {
    here.setAttribute("aria-current", "location");
    const pane = $("inspector"), box = here.getBoundingClientRect(), frame = pane.getBoundingClientRect();
    if (box.top < frame.top + 40 || box.bottom > frame.bottom - 40) pane.scrollTop += box.top - frame.top - frame.height / 3;
  }
}
addEventListener("scroll", () => { waiting ||= setTimeout(locate, 100); }, { passive: true });
