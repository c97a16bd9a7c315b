// Search and colors of the index. Nothing here turns text into markup.
"use strict";
(() => {
  const root = document.documentElement;
  const $ = (id) => document.getElementById(id);
  root.classList.add("scripted");

  const themes = ["auto", "dark", "light"];
  $("theme").addEventListener("click", () => {
    root.dataset.theme = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
  });

  // Words are sorted, so those with the same prefix are consecutive.
  const { pages, words, places } = JSON.parse($("words").textContent);
  function pagesWith(begin) {
    let low = 0, high = words.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (words[middle] < begin) low = middle + 1;
      else high = middle;
    }
    const found = new Set();
    for (; low < words.length && words[low].startsWith(begin); low++) {
      let place = 0;
      for (const step of places[low].split(" ")) found.add(pages[(place += Number(step))]);
    }
    return found;
  }

  // Filters; what all conversations have in common is no choice.
  const facets = JSON.parse($("facets").textContent);
  const filters = document.createElement("div");
  filters.className = "filters";
  filters.setAttribute("role", "group");
  filters.setAttribute("aria-label", "Filters");
  for (const [kind, label] of ["All tools", "All projects", "All models"].entries()) {
    const counts = new Map();
    for (const values of Object.values(facets)) for (const value of values[kind]) counts.set(value, (counts.get(value) || 0) + 1);
    if (counts.size < 2) continue;
    const select = document.createElement("select");
    select.dataset.kind = kind;
    select.setAttribute("aria-label", label);
    select.append(new Option(label, ""));
    for (const [value, amount] of [...counts].sort((one, other) => other[1] - one[1])) select.append(new Option(`${value} (${amount})`, value));
    select.addEventListener("change", () => search());
    filters.append(select);
  }
  document.querySelector(".about").append(filters);

  const items = [...document.querySelectorAll(".entry")];
  const texts = items.map((item) => item.querySelector(".item").textContent.toLowerCase());
  function search() {
    const wanted = $("find").value.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
    const found = wanted.map(pagesWith);
    const chosen = [...filters.querySelectorAll("select")].filter((each) => each.value);
    const text = $("find").value.trim();
    let shown = 0;
    items.forEach((item, place) => {
      const is = wanted.every((word, i) => found[i].has(item.id) || texts[place].includes(word))
        && chosen.every((each) => facets[item.id]?.[each.dataset.kind].includes(each.value));
      item.classList.toggle("other", !is);
      shown += is;
      // The page shows the place and marks the words.
      const link = item.querySelector(".item a");
      link.hash = is && text ? `find=${encodeURIComponent(text)}` : "";
    });
    // The ancestors of a shown entry are shown with it.
    for (const item of items) item.hidden = item.classList.contains("other") && !item.querySelector(".entry:not(.other)");
    for (const group of document.querySelectorAll(".date")) group.hidden = !group.querySelector(".entry:not([hidden])");
    $("found").textContent = wanted.length || chosen.length ? (shown === 1 ? "1 conversation" : `${shown} conversations`) : "";
  }
  let typing = 0;
  $("find").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(search, 80); });
  $("find").form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(typing);
    search();
    const first = document.querySelector(".entry:not([hidden]):not(.other) a");
    if (first) first.focus();
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
    if (event.key === "/") {
      event.preventDefault();
      $("find").focus();
      $("find").select();
    }
  });
})();
