// Search, keyboard shortcuts, folding and colors of a page. Nothing here turns text into markup.
(() => {
  "use strict";
  const root = document.documentElement;
  const $ = (id) => document.getElementById(id);
  const main = $("start");
  root.classList.add("scripted");

  // Color theme: system, dark, light.
  const themes = ["auto", "dark", "light"];
  function nextTheme() {
    root.dataset.theme = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
  }

  // Folding.
  function unfoldAround(node) {
    for (let at = node.parentElement; at; at = at.parentElement)
      if (at.tagName === "DETAILS") at.open = true;
      else if (at.classList.contains("long")) at.classList.add("open");
  }
  function setAll(scope, open) {
    for (const each of scope.querySelectorAll("details")) each.open = open;
  }
  function toggleAll() {
    const open = $("unfold").getAttribute("aria-pressed") !== "true";
    $("unfold").setAttribute("aria-pressed", String(open));
    $("unfold").textContent = open ? "Fold all" : "Unfold all";
    const top = current && current.getBoundingClientRect().top;
    setAll(main, open);
    if (current) window.scrollBy(0, current.getBoundingClientRect().top - top);
  }

  // Events are what the tool noted for itself: they are shown on request.
  function toggleEvents() {
    const shown = root.classList.toggle("with-events");
    $("events").setAttribute("aria-pressed", String(shown));
  }
  $("events").hidden = !main.querySelector(".events");

  // Navigation from message to message.
  let current = null;
  function mark(turn, quietly) {
    if (current) current.classList.remove("current");
    current = turn;
    if (!turn) return;
    turn.classList.add("current");
    unfoldAround(turn);
    if (quietly) return;
    turn.scrollIntoView({ block: "start" });
    // Tab continues with the links and buttons of this message.
    turn.tabIndex = -1;
    turn.focus({ preventScroll: true });
  }
  const EDGE = 100;
  // The first message in view, or null between messages.
  function inView() {
    const x = main.getBoundingClientRect().left + main.clientWidth / 2;
    for (let y = EDGE; y < innerHeight; y += 40) {
      const at = document.elementFromPoint(x, y);
      const turn = at && at.closest(".turn");
      if (turn) return turn;
    }
    return null;
  }
  const lists = new Map();
  function step(selector, way) {
    if (!lists.has(selector)) lists.set(selector, [...main.querySelectorAll(selector)]);
    const turns = lists.get(selector);
    const from = current || inView();
    if (!from) return turns.length && mark(turns[0]);
    // A message that starts below the edge has not been read yet: it is the next one.
    if (!current && way > 0 && turns.includes(from) && from.getBoundingClientRect().top > EDGE) return mark(from);
    const place = after(turns, from);
    const found = turns[way > 0 ? place : place - (turns[place - 1] === from ? 2 : 1)];
    if (found) mark(found);
  }
  // How many of some elements (in document order) precede another one, are it, or contain it.
  function after(elements, other) {
    let low = 0, high = elements.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const each = elements[middle];
      if (each === other || each.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Search: finds matching messages in slices; finds the matches within a message when it is shown.
  const marks = window.Highlight && CSS.highlights ? CSS.highlights : null;
  let query = "", hits = [], at = -1, searching = 0, fromIndex = false;
  // The index finds words in any order: if they are not next to each other, the longest one is shown.
  function seek(text, isFirst) {
    fromIndex = isFirst;
    $("find").value = text;
    search();
  }
  function search() {
    const wanted = $("find").value.trim().toLowerCase();
    if (wanted === query) return;
    query = wanted;
    hits = [];
    at = -1;
    if (marks) marks.delete("hit");
    const mine = ++searching;
    if (!query) return showCount();
    const places = main.querySelectorAll(".turn, .about");
    let place = 0;
    const go = () => {
      if (mine !== searching) return;
      const until = performance.now() + 12;
      while (place < places.length && performance.now() < until) {
        const turn = places[place++];
        if (turn.textContent.toLowerCase().includes(query)) hits.push(turn);
      }
      showCount(place < places.length);
      if (place < places.length) setTimeout(go);
      else if (hits.length) show(0);
      else if (fromIndex) seek(query.split(/\s+/).sort((one, other) => other.length - one.length)[0], false);
    };
    go();
  }
  function showCount(more) {
    const found = hits.length === 1 ? "1 match" : `${hits.length} matches`;
    $("found").textContent = !query ? "" : more ? "…" : at < 0 ? found : `${at + 1} of ${hits.length}`;
  }
  function show(place) {
    if (!hits.length) return;
    at = (place + hits.length) % hits.length;
    const ranges = matches(hits[at]);
    if (ranges.length) unfoldAround(ranges[0].startContainer);
    mark(hits[at].closest(".turn"), true);
    if (marks) marks.set("hit", new Highlight(...ranges));
    const target = ranges.length ? ranges[0].startContainer.parentElement : hits[at];
    target.scrollIntoView({ block: "center" });
    showCount();
  }
  function matches(turn) {
    const found = [];
    const texts = document.createTreeWalker(turn, NodeFilter.SHOW_TEXT);
    while (texts.nextNode() && found.length < 500) {
      const text = texts.currentNode.data.toLowerCase();
      // If the lower-case text has another length, positions in both differ.
      if (text.length !== texts.currentNode.data.length) continue;
      for (let i = text.indexOf(query); i >= 0; i = text.indexOf(query, i + query.length)) {
        const range = new Range();
        range.setStart(texts.currentNode, i);
        range.setEnd(texts.currentNode, i + query.length);
        found.push(range);
      }
    }
    return found;
  }

  for (const block of main.querySelectorAll("pre[data-lang]")) watchCode(block);

  // Mark the current position in the table of contents.
  const links = [...$("contents").querySelectorAll("a")];
  const targets = links.map((link) => $(link.hash.slice(1)));
  let here = null, waiting = 0;
  function locate() {
    waiting = 0;
    const turn = inView();
    if (!turn) return;
    const link = scrollY < EDGE ? links[0] : links[after(targets, turn) - 1];
    if (!link || link === here) return;
    if (here) here.removeAttribute("aria-current");
    here = link;
    link.setAttribute("aria-current", "location");
    const list = $("contents");
    if (getComputedStyle(list).position === "sticky") {
      const box = link.getBoundingClientRect(), frame = list.getBoundingClientRect();
      if (box.top < frame.top + 40 || box.bottom > frame.bottom - 40) list.scrollTop += box.top - frame.top - frame.height / 3;
    }
  }
  addEventListener("scroll", () => { waiting = waiting || setTimeout(locate, 120); }, { passive: true });
  locate();

  function follow() {
    if (location.hash.startsWith("#find=")) return seek(decodeURIComponent(location.hash.slice(6)), true);
    const target = location.hash.length > 1 && $(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    unfoldAround(target);
    if (target.closest(".events")) root.classList.add("with-events");
    for (const each of target.querySelectorAll(":scope > details.sidechain")) each.open = true;
    if (target.matches(".turn")) mark(target, true);
    target.scrollIntoView({ block: "start" });
  }
  addEventListener("hashchange", follow);
  if (location.hash) follow();

  const keys = {
    j: () => step(".turn", 1),
    k: () => step(".turn", -1),
    n: () => step(".turn.user:has(> .prose, > .long)", 1),
    p: () => step(".turn.user:has(> .prose, > .long)", -1),
    o: () => {
      const turn = current || inView();
      const all = turn ? [...turn.querySelectorAll("details")] : [];
      const open = all.some((each) => !each.open);
      for (const each of all) each.open = open;
    },
    e: toggleAll,
    v: toggleEvents,
    t: nextTheme,
    g: () => { mark(null); scrollTo(0, 0); },
    G: () => { mark(null); scrollTo(0, document.body.scrollHeight); },
    "/": () => { $("find").focus(); $("find").select(); },
    "?": () => $("help").showModal(),
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.matches("input, textarea, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if ($("help").open || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });

  let typing = 0;
  $("find").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(search, 150); });
  $("find").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    clearTimeout(typing);
    if ($("find").value.trim().toLowerCase() !== query) search();
    else show(at + (event.shiftKey ? -1 : 1));
  });
  $("find").form.addEventListener("submit", (event) => event.preventDefault());
  $("next").addEventListener("click", () => show(at + 1));
  $("previous").addEventListener("click", () => show(at - 1));
  $("unfold").addEventListener("click", toggleAll);
  $("events").addEventListener("click", toggleEvents);
  $("theme").addEventListener("click", nextTheme);
  main.addEventListener("click", (event) => {
    const button = event.target.closest("button.unfold");
    if (button) button.closest(".long").classList.add("open");
  });
  $("keys").addEventListener("click", keys["?"]);
})();
