// Searches that the user has saved, in this browser.
import { say, store, stored } from "./dom.js";

const MAX_SAVED = 50;

function saved() {
  try {
    return JSON.parse(stored("searches", "[]"));
  } catch {
    return [];
  }
}

// The address of the search that is shown, without what a visit adds.
function current() {
  const url = new URL(location.href);
  url.searchParams.delete("offset");
  url.searchParams.delete("mode");
  return url.pathname + url.search;
}

export function startSaved() {
  const results = document.getElementById("results");
  const box = document.getElementById("saved-searches");
  if (!results || !box) return;
  const searches = saved(), here = current(), isSaved = searches.some((each) => each.address === here);
  box.replaceChildren();
  const query = new URL(location.href).searchParams.get("q");
  if (query) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = isSaved ? "Remove from saved searches" : "Save this search";
    button.addEventListener("click", () => toggle(query));
    box.append(button);
  }
  if (!searches.length) return;
  const list = document.createElement("ul");
  list.setAttribute("aria-label", "Saved searches");
  for (const { address, label } of searches) {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = address;
    link.textContent = label;
    if (address === here) link.setAttribute("aria-current", "page");
    item.append(link);
    list.append(item);
  }
  box.append(list);
}

function toggle(query) {
  const address = current(), searches = saved(), others = searches.filter((each) => each.address !== address);
  const chosen = [...new URL(address, location.href).searchParams].filter(([name]) => name !== "q").map(([, value]) => value.split("/").at(-1));
  const label = [query, ...chosen].join(" · ");
  store("searches", JSON.stringify(others.length < searches.length ? others : [{ address, label }, ...searches].slice(0, MAX_SAVED)));
  startSaved();
  say(others.length < searches.length ? "Search removed" : "Search saved");
}
