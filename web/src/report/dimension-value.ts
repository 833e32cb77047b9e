import { useCallback } from "react";
import { useTexts } from "../texts.ts";
import { texts } from "./filter-texts.ts";
import { usePlatformName } from "./platform-name.ts";

/** A value of a dimension as people call it. The empty one is a value too: nothing is known. */
export function useDimensionValue(): (name: string, value: string) => string {
  const text = useTexts(texts);
  const platformName = usePlatformName();
  return useCallback(
    (name, value) => {
      if (value === "") return text.missing;
      if (name === "ad_platform") return platformName(value);
      if (name === "os_platform") return text.systems[value] ?? value;
      return value;
    },
    [text, platformName],
  );
}
