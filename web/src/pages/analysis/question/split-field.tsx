import { useKnownNames } from "../../../analysis/known-names.ts";
import { useTexts } from "../../../texts.ts";
import type { TabProps } from "../sources.ts";
import { texts } from "../texts.ts";
import { FieldSelect, useFieldGroups } from "./field-select.tsx";

/** The one field by which the users of a funnel or of cohorts are split. */
export function SplitField({ url, onChange }: Pick<TabProps, "url" | "onChange">) {
  const text = useTexts(texts);
  const groups = useFieldGroups(useKnownNames(), "no orders");
  return (
    <FieldSelect
      label={text.split}
      value={url.users_by}
      groups={groups}
      none={text.noSplit}
      onChange={(field) => onChange({ users_by: field })}
    />
  );
}
