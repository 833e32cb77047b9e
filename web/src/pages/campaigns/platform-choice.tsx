import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AdPlatform, PlatformList } from "../../../../src/contract/setting/campaign.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { SelectField, TextField } from "../../ui/field.tsx";
import { texts } from "./texts.ts";

export const PLATFORMS = "platforms";

/** The supported platforms, and those with a connector of the app's own. They change with a release or a declaration. */
export function usePlatforms() {
  const { app_id } = useApp();
  return useQuery({
    queryKey: [PLATFORMS, app_id],
    queryFn: ({ signal }) => get<PlatformList>("platforms", { app_id }, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Platforms with their own macros first: they are the most used. */
export function sorted(platforms: readonly AdPlatform[]): AdPlatform[] {
  return [...platforms].sort((left, right) => Number(right.has_own_macros) - Number(left.has_own_macros));
}

const OTHER = "…";

type PlatformChoiceProps = { value: string; onChange: (name: string) => void };

/** A supported platform, none, or any other name. */
export function PlatformChoice({ value, onChange }: PlatformChoiceProps) {
  const text = useTexts(texts).form;
  const platformName = usePlatformName();
  const { data } = usePlatforms();
  const names = sorted(data?.platforms ?? []).map(({ name }) => name);
  const [isOther, setOther] = useState(false);
  const isUnknown = value !== "" && data !== undefined && !names.includes(value);
  const shownNames = data ? names : [value].filter(Boolean);
  const choices = [
    { value: "", label: text.anyPlatform },
    ...shownNames.map((name) => ({ value: name, label: platformName(name) })),
    { value: OTHER, label: text.otherPlatform },
  ];
  return (
    <>
      <SelectField
        label={text.platform}
        value={isOther || isUnknown ? OTHER : value}
        choices={choices}
        onChange={(chosen) => {
          setOther(chosen === OTHER);
          onChange(chosen === OTHER ? "" : chosen);
        }}
      />
      {(isOther || isUnknown) && (
        <TextField label={text.platformName} hint={text.platformNameHint} value={value} onChange={onChange} required />
      )}
    </>
  );
}
