// Follows a conversation while it grows, and marks what is new since the last look.
import { say, store, stored } from "./dom.js";
import { conversation, extend, reloadLast } from "./reading.js";
import { startOutline } from "./outline.js";

const MAX_REMEMBERED = 300, BOTTOM_PX = 240;
let source = null, followed = null, lastSeen = null;

function remembered() {
  try {
    return JSON.parse(stored("seen", "{}"));
  } catch {
    return {};
  }
}

// Where the reader was up to; from now on, that is the end.
function look(name, last) {
  const seen = remembered(), before = seen[name];
  delete seen[name];
  seen[name] = last;
  store("seen", JSON.stringify(Object.fromEntries(Object.entries(seen).slice(-MAX_REMEMBERED))));
  return before;
}

export function startLive() {
  const text = conversation();
  lastSeen = null;
  if (!text?.dataset.live) return stop();
  const { name, last } = text.dataset;
  const before = look(name, last);
  if (before && before !== last) lastSeen = before;
  markNew();
  if (followed === name) return;
  stop();
  followed = name;
  if (!document.hidden) connect();
}

function stop() {
  source?.close();
  source = followed = null;
}

function connect() {
  const text = conversation();
  if (!text || source) return;
  source = new EventSource(text.dataset.live);
  source.onmessage = (event) => grow(JSON.parse(event.data));
}

async function grow({ total, last }) {
  const text = conversation();
  if (!text || text.dataset.name !== followed || (Number(text.dataset.total) === total && text.dataset.last === last)) return;
  const more = total - Number(text.dataset.total);
  const isAtEnd = scrollY > 0 && innerHeight + scrollY > document.documentElement.scrollHeight - BOTTOM_PX;
  lastSeen ??= text.dataset.last;
  text.dataset.total = total;
  text.dataset.last = last;
  look(followed, last);
  await reloadLast();
  extend();
  markNew();
  startOutline();
  if (isAtEnd) document.documentElement.scrollTop = document.documentElement.scrollHeight;
  if (more > 0) say(`${more} new`);
}

// One line above what is new.
function markNew() {
  if (!lastSeen || document.querySelector(".new-line")) return;
  const after = document.getElementById(lastSeen)?.closest(".turn, .events");
  if (!after) return;
  let place = after;
  while (place.parentElement?.matches("details.run, details.run *")) place = place.parentElement;
  if (!place.nextElementSibling && !place.closest(".chunk")?.nextElementSibling) return;
  const line = document.createElement("p");
  line.className = "new-line";
  line.textContent = "New since your last look";
  place.after(line);
}
document.addEventListener("aj:chunk", markNew);

// What nobody looks at asks for nothing.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    source?.close();
    source = null;
  } else if (followed) connect();
});
