import { SegmentSelect } from "../../../analysis/saved-segments.tsx";
import { useToday } from "../../../report/days.ts";
import { DateRange, type Days } from "../../../ui/date-range.tsx";
import type { UrlState } from "../state.ts";

type DaysAndUsersProps = { days: Days; segment: string; onChange: (changes: Partial<UrlState>) => void };

/** Which days and which users a question is about. */
export function DaysAndUsers({ days, segment, onChange }: DaysAndUsersProps) {
  return (
    <>
      <DateRange days={days} today={useToday()} onChange={onChange} />
      <SegmentSelect value={segment} onChange={(chosen) => onChange({ segment: chosen })} />
    </>
  );
}
