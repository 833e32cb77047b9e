import { useCallback } from "react";
import { useTexts } from "../texts.ts";
import { texts } from "./filter-texts.ts";
import { usePlatformName } from "./platform-name.ts";

/** The display name of a dimension's value. The empty value has a name too: unknown. */
export function useDimensionValue(): (name: string, value: string) => string {
  const text = useTexts(texts);
  const platformName = usePlatformName();
  return useCallback(
    (name, value) => {
      if (value === "") return text.missing;
      if (name === "ad_platform") return platformName(value);
      if (name === "hour") return `${value}:00`;
      if (name === "os_platform") return text.systems[value] ?? value;
      return value;
    },
    [text, platformName],
  );
}
