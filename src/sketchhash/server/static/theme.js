// @ts-check
/** Light or dark: as the system says, until the person says otherwise. */

const STORED_AS = "sketchhash.theme";
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

const stored = localStorage.getItem(STORED_AS);
if (stored === "light" || stored === "dark") document.documentElement.dataset.theme = stored;

function theme() {
  return document.documentElement.dataset.theme ?? (systemIsDark.matches ? "dark" : "light");
}

/** Change over, and remember it unless it is what the system says anyway. */
export function toggleTheme() {
  const chosen = theme() === "dark" ? "light" : "dark";
  const isSystems = (chosen === "dark") === systemIsDark.matches;
  if (isSystems) localStorage.removeItem(STORED_AS);
  else localStorage.setItem(STORED_AS, chosen);
  document.documentElement.dataset.theme = chosen;
  dispatchEvent(new Event("themechange"));
}

systemIsDark.addEventListener("change", () => dispatchEvent(new Event("themechange")));
