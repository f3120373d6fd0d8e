// @ts-check
/** The theme: light or dark as the system says, unless the person has chosen. */

const STORED_AS = "sketchhash.theme";
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

const stored = localStorage.getItem(STORED_AS);
if (stored === "light" || stored === "dark") document.documentElement.dataset.theme = stored;

function theme() {
  return document.documentElement.dataset.theme ?? (systemIsDark.matches ? "dark" : "light");
}

/** Switch between light and dark, and remember the choice unless it is the system's anyway. */
export function toggleTheme() {
  const chosen = theme() === "dark" ? "light" : "dark";
  const isSystemDefault = (chosen === "dark") === systemIsDark.matches;
  if (isSystemDefault) localStorage.removeItem(STORED_AS);
  else localStorage.setItem(STORED_AS, chosen);
  document.documentElement.dataset.theme = chosen;
  dispatchEvent(new Event("themechange"));
}

systemIsDark.addEventListener("change", () => dispatchEvent(new Event("themechange")));
