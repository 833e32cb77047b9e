import { stored, useStored } from "./stored.ts";

export const LANGUAGES = ["en", "zh"] as const;
export type Language = (typeof LANGUAGES)[number];

export const language = stored<Language>("language", {
  isValue: (text): text is Language => (LANGUAGES as readonly string[]).includes(text),
  fallback: navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en",
});

/** Keeps the page's `lang` up to date: browsers use it to choose Chinese glyphs and to read the page aloud. */
export function followLanguage(): void {
  const apply = () => {
    document.documentElement.lang = language.read() === "zh" ? "zh-CN" : "en";
  };
  apply();
  language.subscribe(apply);
}

/** The texts of a page: strings, or functions that return one. Both languages have the same keys. */
export type Texts<T> = { en: T; zh: NoInfer<T> };

export function useTexts<T>(texts: Texts<T>): T {
  return texts[useStored(language)];
}

export function useLanguage(): Language {
  return useStored(language);
}
