// Small helpers. Nothing in these modules turns text into markup: markup comes from the server, escaped.
export const $ = (id) => document.getElementById(id);
export const root = document.documentElement;

export function say(text) {
  $("status").textContent = text;
}

// The page at a URL of this server as a document; null if another request has replaced this one.
let latest = null;
export async function fetchPage(url, { alone = true } = {}) {
  const request = new AbortController();
  if (alone) {
    if (latest) latest.abort();
    latest = request;
  }
  try {
    const response = await fetch(url, { signal: request.signal, credentials: "same-origin" });
    if (response.status === 401) {
      location.reload();
      return null;
    }
    return new DOMParser().parseFromString(await response.text(), "text/html");
  } catch (error) {
    if (error.name === "AbortError") return null;
    say("The server does not answer. Is aj web still running?");
    root.classList.remove("loading");
    root.classList.add("offline");
    return null;
  }
}

export function unfoldAround(node) {
  for (let at = node.parentElement; at; at = at.parentElement) {
    if (at.tagName === "DETAILS") at.open = true;
    if (at.classList.contains("long")) at.classList.add("open");
    if (at.classList.contains("events")) root.classList.add("with-events");
  }
}

export function debounce(callback, delay) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => callback(...values), delay);
  };
}

export function stored(name, fallback = null) {
  try {
    return localStorage.getItem(`aj-${name}`) ?? fallback;
  } catch {
    return fallback;
  }
}

export function store(name, value) {
  try {
    localStorage.setItem(`aj-${name}`, value);
  } catch {
    // Without storage, choices last as long as the page.
  }
}
