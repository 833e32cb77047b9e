import { useSyncExternalStore } from "react";
import { stored, useStored } from "./stored.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export const theme = stored<Theme>("theme", {
  isValue: (text): text is Theme => (THEMES as readonly string[]).includes(text),
  fallback: "system",
});

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function shownTheme(): "light" | "dark" {
  const chosen = theme.read();
  if (chosen !== "system") return chosen;
  return prefersDark.matches ? "dark" : "light";
}

function subscribe(listener: () => void): () => void {
  const stop = theme.subscribe(listener);
  prefersDark.addEventListener("change", listener);
  return () => {
    stop();
    prefersDark.removeEventListener("change", listener);
  };
}

/** Keeps the page's `data-theme` up to date, which is all that the style sheets look at. */
export function followTheme(): void {
  const apply = () => {
    document.documentElement.dataset.theme = shownTheme();
  };
  apply();
  subscribe(apply);
}

export function useTheme(): Theme {
  return useStored(theme);
}

export function useShownTheme(): "light" | "dark" {
  return useSyncExternalStore(subscribe, shownTheme);
}
