// Sets the color theme before anything is drawn. The choice is stored in this browser only.
"use strict";
document.documentElement.classList.add("scripted");
try {
  const theme = localStorage.getItem("aj-theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden: then the theme follows the system.
}
