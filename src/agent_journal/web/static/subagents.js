// Opens the work of a subagent below the call that started it.
import { fetchPage, say } from "./dom.js";

export function offerInPlace(scope) {
  for (const started of scope.querySelectorAll("p.started")) {
    if (started.querySelector("button")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "open-in-place";
    button.textContent = "Open here";
    button.setAttribute("aria-expanded", "false");
    started.append(button);
  }
}

export async function toggleInPlace(button, prepare) {
  const started = button.closest("p.started");
  const shown = started.nextElementSibling;
  if (shown?.classList.contains("in-place")) {
    shown.remove();
    return setOpen(button, false);
  }
  const page = await fetchPage(started.querySelector("a").href, { alone: false });
  const chunks = [...(page?.querySelectorAll(".conversation .chunk") || [])];
  if (!chunks.length || !started.isConnected) return;
  const box = document.createElement("div");
  box.className = "in-place";
  for (const chunk of chunks) {
    // Ids stay those of the conversation that is read.
    for (const each of chunk.querySelectorAll("[id]")) each.removeAttribute("id");
    box.append(...chunk.childNodes);
  }
  const later = page.querySelector("nav[aria-label='Later messages'] a");
  if (later) box.append(later);
  started.after(box);
  prepare(box);
  setOpen(button, true);
}

function setOpen(button, open) {
  button.textContent = open ? "Close" : "Open here";
  button.setAttribute("aria-expanded", String(open));
  say(open ? "Subagent opened" : "Subagent closed");
}
