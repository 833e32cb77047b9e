import type { ShownSegment, ShownSegments } from "../../../src/contract/analysis/saved-segment.ts";
import { useAppQuery } from "../app-query.ts";
import { useTexts } from "../texts.ts";
import { SelectField } from "../ui/field.tsx";

const texts = {
  en: { segment: "Segment", everybody: "All users", gone: (id: string) => `Removed segment ${id}` },
  zh: { segment: "分群", everybody: "全部用户", gone: (id: string) => `已删除的分群 ${id}` },
};

/** Where the saved segments of an app are, and the key of the query. */
export const SEGMENTS = "segments";

export function useSegments(): readonly ShownSegment[] {
  return useAppQuery<ShownSegments>(SEGMENTS).data?.segments ?? [];
}

/** What a segment is called. One that somebody has removed has only its id. */
export function useSegmentName(): (id: string) => string {
  const text = useTexts(texts);
  const segments = useSegments();
  return (id) => segments.find(({ segment_id }) => String(segment_id) === id)?.name ?? text.gone(id);
}

type SegmentSelectProps = { value: string; hint?: string; onChange: (id: string) => void };

/** Everybody, or the users of a saved segment. Nothing while there is none to choose. */
export function SegmentSelect({ value, hint, onChange }: SegmentSelectProps) {
  const text = useTexts(texts);
  const segments = useSegments();
  const nameOf = useSegmentName();
  const ids = segments.map(({ segment_id }) => String(segment_id));
  const shown = value === "" || ids.includes(value) ? ids : [...ids, value];
  if (shown.length === 0) return null;
  return (
    <SelectField
      label={text.segment}
      hint={hint}
      value={value}
      choices={[{ value: "", label: text.everybody }, ...shown.map((id) => ({ value: id, label: nameOf(id) }))]}
      onChange={onChange}
    />
  );
}
