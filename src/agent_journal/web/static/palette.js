// Ctrl-K: go to a conversation, filter, or do something.
import { $, debounce, fetchPage } from "./dom.js";
import { visit } from "./pages.js";

let actions = [], options = [], chosen = 0;

export function startPalette(available) {
  actions = available;
  const input = $("palette-input");
  input.addEventListener("input", debounce(update, 80));
  input.addEventListener("keydown", (event) => {
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (way) {
      event.preventDefault();
      choose((chosen + way + options.length) % Math.max(options.length, 1));
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(chosen);
    }
  });
  $("palette-options").addEventListener("click", (event) => {
    const option = event.target.closest("li");
    if (option) run([...option.parentElement.children].indexOf(option));
  });
}

export function openPalette(text = "") {
  $("palette-input").value = text;
  $("palette").showModal();
  update();
}

async function update() {
  const text = $("palette-input").value.trim();
  const wanted = text.toLowerCase();
  options = actions.filter((each) => each.label.toLowerCase().includes(wanted)).map((each) => ({ ...each, kind: each.key || "" }));
  if (text) {
    options.push({ label: `Search for “${text}”`, kind: "search", run: () => visit(`${$("q").form.action}?q=${encodeURIComponent(text)}`) });
    const base = new URL(document.querySelector(".brand").href).pathname;
    const page = await fetchPage(`${base}list?title=${encodeURIComponent(text)}`, { alone: false });
    if ($("palette-input").value.trim() !== text) return;
    const rows = [...(page?.querySelectorAll(".row") || [])].slice(0, 12);
    options.unshift(...rows.map((row) => ({
      label: row.querySelector(".row-title").textContent,
      kind: row.querySelector(".row-source").textContent,
      run: () => visit(row.getAttribute("href")),
    })));
    if (/^\S{4,}$/.test(text)) options.push({ label: `Open the conversation with the id ${text}`, kind: "id", run: () => visit(`${base}c/${encodeURIComponent(text)}`) });
  }
  draw();
}

function draw() {
  $("palette-options").replaceChildren(...options.map((option, number) => {
    const item = document.createElement("li"), label = document.createElement("span"), kind = document.createElement("small");
    item.id = `option-${number}`;
    item.setAttribute("role", "option");
    label.textContent = option.label;
    kind.textContent = option.kind;
    item.append(label, kind);
    return item;
  }));
  choose(0);
}

function choose(number) {
  chosen = number;
  [...$("palette-options").children].forEach((item, at) => {
    item.setAttribute("aria-selected", String(at === number));
    if (at === number) item.scrollIntoView({ block: "nearest" });
  });
  $("palette-input").setAttribute("aria-activedescendant", options.length ? `option-${number}` : "");
}

function run(number) {
  const option = options[number];
  $("palette").close();
  if (option) option.run();
}
