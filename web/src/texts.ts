import { stored, useStored } from "./stored.ts";

export const LANGUAGES = ["en", "zh"] as const;
export type Language = (typeof LANGUAGES)[number];

export const language = stored<Language>("language", {
  isValue: (text): text is Language => (LANGUAGES as readonly string[]).includes(text),
  fallback: navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en",
});

/** What a page says, beside the page: strings, or functions that make one. Both languages have the same names. */
export type Texts<T> = { en: T; zh: NoInfer<T> };

export function useTexts<T>(texts: Texts<T>): T {
  return texts[useStored(language)];
}

export function useLanguage(): Language {
  return useStored(language);
}
