import type { Join } from "../../../../src/contract/analysis/condition.ts";
import type { Segment } from "../../../../src/contract/analysis/segment.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { SelectField } from "../../ui/field.tsx";
import { ConditionFields } from "./condition-fields.tsx";
import { CONDITIONS_MAX, type Draft, newCondition } from "./state.ts";
import { texts } from "./texts.ts";

/** The conditions of a segment, joined by and or by or. */
export function ConditionRows({ draft, onChange }: { draft: Draft; onChange: (draft: Draft) => void }) {
  const text = useTexts(texts);
  const { join, parts } = draft;
  const change = (next: readonly Segment[]) => onChange({ join, parts: next });
  return (
    <>
      {parts.map((part, index) => (
        <div key={index} className="series">
          <span className="series-letter">{index + 1}</span>
          <div className="grow stack tight">
            {"join" in part || part.kind === "saved" ? (
              <code className="nested-condition" title={text.nested}>
                {JSON.stringify(part)}
              </code>
            ) : (
              <ConditionFields
                condition={part}
                onChange={(next) => change(parts.map((old, at) => (at === index ? next : old)))}
              />
            )}
          </div>
          {parts.length > 1 && (
            <Button
              look="quiet"
              size="small"
              aria-label={text.removePart(index + 1)}
              onClick={() => change(parts.filter((_, at) => at !== index))}
            >
              ×
            </Button>
          )}
        </div>
      ))}
      <div className="row">
        {parts.length < CONDITIONS_MAX && (
          <Button size="small" onClick={() => change([...parts, newCondition("did")])}>
            {text.add}
          </Button>
        )}
        {parts.length > 1 && (
          <div className="named-beside">
            <SelectField
              label={text.join}
              value={join}
              choices={(["and", "or"] as const).map((value) => ({ value, label: text.joins[value] }))}
              onChange={(value) => onChange({ join: value as Join, parts })}
            />
          </div>
        )}
      </div>
    </>
  );
}
