import { useEffect, useState } from "preact/hooks";

const themes = ["system", "light", "dark"] as const;

/** The theme of the page: that of the system, light, or dark. */
export type Theme = (typeof themes)[number];

function keptTheme(): Theme {
  try {
    return themes.find((theme) => theme === localStorage.getItem("writ-theme")) ?? "system";
  } catch {
    return "system"; // a page in a file may have no storage
  }
}

/** The theme, with the function that changes to the next one. */
export function useTheme(): readonly [Theme, () => void] {
  const [theme, setTheme] = useState(keptTheme);
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
    try {
      localStorage.setItem("writ-theme", theme);
    } catch {
      // the theme then holds for this page only
    }
  }, [theme]);
  return [theme, () => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system")];
}
