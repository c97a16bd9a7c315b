// Finds text in a conversation: the server knows where, also in what is folded or not loaded yet.
import { $, debounce, say, unfoldAround } from "./dom.js";
import { conversation, goTo, mark } from "./reading.js";
import { showFound } from "./outline.js";
import { noteHere } from "./pages.js";

const marks = window.Highlight && CSS.highlights ? CSS.highlights : null;
const MAX_RANGES = 2000;
let hits = [], at = -1, needle = "", asked = 0;

export function startFind() {
  hits = [];
  at = -1;
  needle = "";
  marks?.delete("hit");
  marks?.delete("word-of-query");
  const input = $("find");
  if (!input) return;
  input.form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", debounce(() => find(input.value, false), 160));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      if (input.value.trim().toLowerCase() !== needle) find(input.value, true);
      else move(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      input.value = "";
      find("", false);
      input.blur();
    }
  });
  const wanted = new URL(location.href).searchParams.get("find");
  if (wanted) {
    input.value = wanted;
    find(wanted, !new URL(location.href).searchParams.has("message"));
  }
  markQuery();
}

async function find(value, jumps) {
  needle = value.trim().toLowerCase();
  const mine = ++asked, text = conversation();
  if (!text) return;
  const url = new URL(location.href);
  if (needle) url.searchParams.set("find", value.trim());
  else url.searchParams.delete("find");
  history.replaceState(history.state, "", url);
  noteHere();
  marks?.delete("hit");
  if (!needle) {
    hits = [];
    showFound([]);
    $("found").textContent = "";
    return;
  }
  const asking = new URL(text.dataset.find, location.href);
  asking.searchParams.set("q", needle);
  asking.searchParams.set("branch", text.dataset.branch);
  const response = await fetch(asking, { credentials: "same-origin" }).catch(() => null);
  if (!response?.ok || mine !== asked) return;
  hits = (await response.json()).found;
  at = -1;
  showFound(hits);
  paint();
  count();
  if (hits.length) move(1, nearest());
}

// The first hit at or after what is in view.
function nearest() {
  const chunk = [...document.querySelectorAll(".chunk")].find((each) => each.getBoundingClientRect().bottom > 100);
  const start = Number(chunk?.dataset.start || 0);
  const first = hits.findIndex(([position]) => position >= start);
  return first < 0 ? 0 : first;
}

export async function move(way, to = null) {
  if (!hits.length) return;
  at = to ?? (at + way + hits.length) % hits.length;
  count();
  const [position, anchor] = hits[at];
  const target = await goTo(position, anchor);
  if (!target) return;
  paint();
  const ranges = rangesIn($(anchor) || target, needle);
  if (!ranges.length) return;
  unfoldAround(ranges[0].startContainer);
  ranges[0].startContainer.parentElement.scrollIntoView({ block: "center" });
}

function count() {
  const words = hits.length === 1 ? "1 message" : `${hits.length.toLocaleString()} messages`;
  $("found").textContent = !hits.length ? "Nothing found" : at < 0 ? words : `${at + 1} of ${words}`;
  say($("found").textContent);
}

function paint() {
  if (!marks || !needle) return;
  marks.set("hit", new Highlight(...rangesIn(conversation(), needle)));
}

function rangesIn(scope, wanted) {
  const found = [];
  if (!scope || !wanted) return found;
  const texts = document.createTreeWalker(scope, NodeFilter.SHOW_TEXT);
  while (texts.nextNode() && found.length < MAX_RANGES) {
    const data = texts.currentNode.data.toLowerCase();
    // If the lower-case text has another length, positions in both differ.
    if (data.length !== texts.currentNode.data.length) continue;
    for (let i = data.indexOf(wanted); i >= 0; i = data.indexOf(wanted, i + wanted.length)) {
      const range = new Range();
      range.setStart(texts.currentNode, i);
      range.setEnd(texts.currentNode, i + wanted.length);
      found.push(range);
    }
  }
  return found;
}

// Mark the words of the search that led here.
function markQuery() {
  const words = (conversation()?.dataset.query || "").toLowerCase().match(/[\p{L}\p{N}_]{2,}(?!\S*:)/gu) || [];
  if (!marks || !words.length) return;
  marks.set("word-of-query", new Highlight(...words.slice(0, 12).flatMap((word) => rangesIn(conversation(), word))));
}

document.addEventListener("aj:chunk", () => {
  paint();
  markQuery();
});
