// Reading a conversation: its parts are loaded when they come near, so that any length is at hand.
import { $, root, fetchPage, unfoldAround, debounce, stored, store, say } from "./dom.js";
import { noteHere } from "./pages.js";
import { offerInPlace } from "./subagents.js";
import { watchCode, forgetCode } from "./code.js";

const EDGE = 90;
const MIN_ENTRY_PX = 40;
let text = null; // the article of the conversation
let current = null; // the message that the keys refer to
let nearby = null;

export const conversation = () => text;
export const currentTurn = () => current;

export function startReading() {
  text = document.querySelector("article.conversation");
  current = null;
  forgetCode();
  if (nearby) nearby.disconnect();
  prepare($("main"));
  if (!text) return;
  nearby = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) load(entry.target);
  }, { rootMargin: "1500px 0px" });
  for (const chunk of [...text.querySelectorAll(".chunk")]) fillGaps(chunk);
  const target = text.dataset.target && $(text.dataset.target);
  const first = text.querySelector(".chunk:not(.pending)");
  if (target) show(target);
  else if (first && Number(first.dataset.start)) first.scrollIntoView();
}

export function prepare(scope) {
  offerInPlace(scope);
  for (const block of scope.querySelectorAll("pre[data-lang]")) watchCode(block);
  if (root.classList.contains("open-thinking")) setOpen(scope, "details.thinking", true);
  if (root.classList.contains("open-calls")) setOpen(scope, "details.tool, details.run", true);
}

// Placeholders for what precedes and follows a part, as tall as it will probably be.
function fillGaps(chunk) {
  const total = Number(text.dataset.total), size = Number(text.dataset.part);
  const start = Number(chunk.dataset.start), stop = Number(chunk.dataset.stop);
  const height = Math.max(chunk.offsetHeight / Math.max(stop - start, 1), MIN_ENTRY_PX);
  const before = [], after = [];
  if (!chunk.previousElementSibling?.classList.contains("chunk"))
    for (let at = 0; at < start; at += size) before.push(pending(at, Math.min(at + size, start), height));
  const follows = chunk.nextElementSibling?.classList.contains("chunk") ? Number(chunk.nextElementSibling.dataset.start) : total;
  for (let at = stop; at < follows; at = at - (at % size) + size)
    after.push(pending(at, Math.min(at - (at % size) + size, follows), height));
  chunk.before(...before);
  chunk.after(...after);
}

function pending(start, stop, height) {
  const box = document.createElement("div");
  box.className = "chunk pending";
  box.dataset.start = start;
  box.dataset.stop = stop;
  box.style.height = `${Math.round((stop - start) * height)}px`;
  nearby.observe(box);
  return box;
}

const loading = new WeakMap();
function load(box) {
  if (!loading.has(box)) loading.set(box, loadInto(box));
  return loading.get(box);
}

async function loadInto(box) {
  nearby.unobserve(box);
  const owner = text;
  const url = new URL(owner.dataset.messages, location.href);
  url.searchParams.set("start", box.dataset.start);
  url.searchParams.set("branch", owner.dataset.branch);
  if (owner.dataset.query) url.searchParams.set("q", owner.dataset.query);
  const page = await fetchPage(url, { alone: false });
  const chunk = page && page.querySelector(".chunk");
  if (!chunk || owner !== text || !box.isConnected) return null;
  const open = openedIn(box);
  box.replaceWith(chunk);
  prepare(chunk);
  for (const [id, number] of open) {
    const each = document.getElementById(id)?.querySelectorAll("details")[number];
    if (each) each.open = true;
  }
  fillGaps(chunk);
  document.dispatchEvent(new CustomEvent("aj:chunk", { detail: chunk }));
  return chunk;
}

// What is unfolded: the message and the number of each.
function openedIn(chunk) {
  return [...chunk.querySelectorAll(".turn[id]")].flatMap((turn) =>
    [...turn.querySelectorAll("details")].flatMap((each, number) => (each.open ? [[turn.id, number]] : [])));
}

function chunkAt(position) {
  for (const chunk of text.querySelectorAll(".chunk"))
    if (Number(chunk.dataset.start) <= position && position < Number(chunk.dataset.stop)) return chunk;
  return null;
}

// Load the end again if it is shown: its last messages may have changed.
export async function reloadLast() {
  const chunk = [...text.querySelectorAll(".chunk")].at(-1);
  if (chunk && !chunk.classList.contains("pending")) {
    loading.delete(chunk);
    await load(chunk);
  }
}

// Placeholders for what has been added at the end.
export function extend() {
  const chunk = [...text.querySelectorAll(".chunk")].at(-1);
  if (chunk) fillGaps(chunk);
}

// Show the entry at a position, loading its part if necessary.
export async function goTo(position, anchor) {
  let chunk = chunkAt(position);
  // A part may turn out to be shorter than its placeholder.
  for (let tries = 0; chunk && chunk.classList.contains("pending") && tries < 20; tries++) {
    chunk.scrollIntoView({ block: "start" });
    await load(chunk);
    chunk = chunkAt(position);
  }
  const target = (anchor && $(anchor)) || chunk;
  if (target) show(target);
  return target;
}

export function show(target, { block = "start" } = {}) {
  unfoldAround(target);
  const turn = target.closest(".turn") || target;
  mark(turn);
  (block === "start" && target.classList.contains("turn") ? target : turn === target ? target : target).scrollIntoView({ block });
  // What is above may be drawn only now, and be taller than it was taken for.
  requestAnimationFrame(() => target.scrollIntoView({ block }));
}

export function mark(turn) {
  if (current) current.classList.remove("current");
  current = turn?.classList.contains("turn") ? turn : null;
  if (current) {
    current.classList.add("current");
    current.tabIndex = -1;
    if (!document.activeElement?.matches("input")) current.focus({ preventScroll: true });
  }
}

// The first message in view.
export function inView() {
  if (!text) return null;
  const box = text.getBoundingClientRect();
  const x = box.left + box.width / 2;
  for (let y = EDGE; y < innerHeight; y += 32) {
    const turn = document.elementFromPoint(x, y)?.closest(".turn");
    if (turn) return turn;
  }
  return null;
}

export async function step(selector, way) {
  if (!text) return;
  const from = current?.isConnected && isNear(current) ? current : inView();
  const all = [...text.querySelectorAll(`${selector}, .chunk.pending`)].filter((each) => !each.closest("details.run:not([open])"));
  const isAfter = (each) => from && from !== each && from.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING;
  const isBefore = (each) => from && from !== each && from.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_PRECEDING;
  const next = !from ? all[0] : way > 0 ? all.find(isAfter) : all.findLast(isBefore);
  if (!next) return;
  if (!next.classList.contains("pending")) return show(next);
  const prompt = selector.includes("user") && nextPrompt(next, way);
  if (prompt) return goTo(prompt.position, prompt.anchor);
  const chunk = await load(next);
  if (chunk) return step(selector, way);
}

function isNear(turn) {
  const box = turn.getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight;
}

function nextPrompt(box, way) {
  const prompts = [...document.querySelectorAll("#outline .prompts a")].map((link) => ({
    position: Number(link.dataset.position),
    anchor: decodeURIComponent(new URL(link.href).hash.slice(1)),
  }));
  return way > 0 ? prompts.find((each) => each.position >= Number(box.dataset.start)) : prompts.findLast((each) => each.position < Number(box.dataset.stop));
}

function setOpen(scope, selector, open) {
  for (const each of scope.querySelectorAll(selector)) each.open = open;
}

// Unfold or fold a kind of content, also in parts that are loaded later.
export function toggle(kind, selector) {
  const name = `open-${kind}`;
  const open = root.classList.toggle(name);
  const turn = inView(), top = turn?.getBoundingClientRect().top;
  setOpen(text || $("main"), selector, open);
  if (turn) scrollBy(0, turn.getBoundingClientRect().top - top);
  pressed(kind, open);
  say(`${kind} ${open ? "expanded" : "collapsed"}`);
}

export function toggleClass(kind, name) {
  const is = root.classList.toggle(name);
  store(name, is ? "1" : "");
  pressed(kind, is);
}

function pressed(kind, is) {
  document.querySelector(`[data-action="${kind}"][aria-pressed]`)?.setAttribute("aria-pressed", String(is));
}

export function restoreSwitches() {
  for (const [kind, name] of [["split", "split"], ["tokens", "with-tokens"], ["events", "with-events"]]) {
    if (stored(name)) root.classList.add(name);
    pressed(kind, root.classList.contains(name));
  }
  for (const kind of ["thinking", "calls"]) pressed(kind, root.classList.contains(`open-${kind}`));
}

export function toggleTurn() {
  const turn = current?.isConnected ? current : inView();
  if (!turn) return;
  const all = [...turn.querySelectorAll("details")];
  const open = all.some((each) => !each.open);
  for (const each of all) each.open = open;
}

export async function toggleRaw(turn) {
  const link = turn?.querySelector("a.raw");
  if (!link) return;
  const shown = turn.querySelector(":scope > .record");
  if (shown) return shown.remove();
  const url = new URL(link.href);
  url.searchParams.set("part", "1");
  const page = await fetchPage(url, { alone: false });
  const record = page?.querySelector(".record") || page?.querySelector("#main .column");
  if (!record) return;
  record.className = "record";
  turn.querySelector(".head").after(record);
  prepare(record);
}

// The address follows the reading, so that reloading and going back lead to the same message.
addEventListener("scroll", debounce(() => {
  if (!text) return;
  const turn = current?.isConnected && isNear(current) ? current : scrollY > 200 && inView();
  const url = new URL(turn ? turn.querySelector(".here")?.href || location.href : text.dataset.here, location.href);
  const now = new URL(location.href);
  for (const name of ["branch", "find", "q"]) if (now.searchParams.has(name)) url.searchParams.set(name, now.searchParams.get(name));
  if (url.href !== now.href) history.replaceState({ ...history.state, scroll: null }, "", url);
  noteHere();
}, 250), { passive: true });
