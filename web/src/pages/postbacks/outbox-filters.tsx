import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { SelectField } from "../../ui/field.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { usePlatforms } from "../campaigns/platform-choice.tsx";
import { useEventWords } from "./event-texts.ts";
import { texts } from "./texts.ts";

/** The filters by their names in the interface; an empty text means any value. */
export const NO_FILTERS = { status: "", ad_platform: "", event_type: "", client_id: "" };
export type Filters = typeof NO_FILTERS;

type FiltersProps = { filters: Filters; onChange: (changes: Partial<Filters>) => void };

export function OutboxFilters({ filters, onChange }: FiltersProps) {
  const text = useTexts(texts).filters;
  const words = useEventWords();
  return (
    <div className="row fields outbox-filters">
      <SelectField
        label={text.status}
        value={filters.status}
        choices={[
          { value: "", label: text.anyStatus },
          ...words.statuses.map((label, status) => ({ value: String(status), label })),
        ]}
        onChange={(status) => onChange({ status })}
      />
      <PostbackPlatformField value={filters.ad_platform} onChange={(ad_platform) => onChange({ ad_platform })} />
      <SelectField
        label={text.eventType}
        value={filters.event_type}
        choices={[
          { value: "", label: text.anyEventType },
          ...Object.entries({ ...words.eventTypes, ...words.own }).map(([value, label]) => ({ value, label })),
        ]}
        onChange={(event_type) => onChange({ event_type })}
      />
      <SearchField label={text.client} value={filters.client_id} onSearch={(client_id) => onChange({ client_id })} />
    </div>
  );
}

/** Chooses a platform that takes postbacks, or any. */
export function PostbackPlatformField({ value, onChange }: { value: string; onChange: (name: string) => void }) {
  const text = useTexts(texts).filters;
  const platformName = usePlatformName();
  const { data } = usePlatforms();
  const names = data?.platforms.filter(({ postbacks }) => postbacks).map(({ name }) => name) ?? [value].filter(Boolean);
  const choices = [
    { value: "", label: text.anyPlatform },
    ...names.map((name) => ({ value: name, label: platformName(name) })),
  ];
  return <SelectField label={text.platform} value={value} choices={choices} onChange={onChange} />;
}
