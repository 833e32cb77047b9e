import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ConsoleReport } from "../../../src/contract/admin/console-report.ts";
import { post } from "../api.ts";
import { useApp } from "../chosen-app.tsx";
import { useFormat } from "../format.ts";
import { useTexts } from "../texts.ts";
import { Button } from "../ui/button.tsx";
import type { Days } from "../ui/date-range.tsx";
import { Dropdown } from "../ui/dropdown.tsx";
import { Check, TextField } from "../ui/field.tsx";
import { QueryView } from "../ui/query-view.tsx";
import type { Caliber } from "./catalogue.ts";
import { NAME_OF } from "./catalogue.ts";
import { useDimensionValue } from "./dimension-value.ts";
import { FILTER_NAMES, type FilterName, type FilterState, NO_FILTER } from "./filter-state.ts";
import { texts } from "./filter-texts.ts";
import { listOf, listText } from "./value-list.ts";
import "./report.css";

type Question = { days: Days; caliber: Caliber };
type FilterBarProps = Question & {
  /** Filters that are always shown; the others appear while they are active, or on request. */
  first: readonly FilterName[];
  state: FilterState;
  onChange: (changes: Partial<FilterState>) => void;
};

/** A button for each filter, which opens a list of its values. */
export function FilterBar({ first, state, onChange, days, caliber }: FilterBarProps) {
  const text = useTexts(texts);
  const [hasMore, setMore] = useState(false);
  const shown = FILTER_NAMES.filter((name) => hasMore || first.includes(name) || state[name] !== "");
  const isFiltered = FILTER_NAMES.some((name) => state[name] !== "");
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw itself
    <div className="row" role="group" aria-label={text.filters}>
      {shown.map((name) => (
        <Filter
          key={name}
          name={name}
          chosen={listOf(state[name])}
          onChange={(values) => onChange({ [name]: listText(values) })}
          days={days}
          caliber={caliber}
        />
      ))}
      {shown.length < FILTER_NAMES.length && (
        <Button look="quiet" onClick={() => setMore(true)}>
          {text.more}
        </Button>
      )}
      {isFiltered && (
        <Button look="quiet" onClick={() => onChange(NO_FILTER)}>
          {text.clearAll}
        </Button>
      )}
    </div>
  );
}

type FilterProps = Question & { name: FilterName; chosen: string[]; onChange: (values: string[]) => void };

function Filter({ name, chosen, onChange, ...question }: FilterProps) {
  const text = useTexts(texts);
  const valueText = useDimensionValue();
  const [one] = chosen;
  const values =
    one === undefined ? "" : valueText(name, one) + (chosen.length > 1 ? text.andMore(chosen.length - 1) : "");
  const title = values === "" ? text.names[name] : text.chosen(text.names[name], values);
  return (
    <Dropdown title={title} isActive={values !== ""}>
      {() => (
        <>
          {name === "version" ? (
            <Typed chosen={chosen} onChange={onChange} />
          ) : (
            <Values name={name} chosen={chosen} onChange={onChange} {...question} />
          )}
          {chosen.length > 0 && (
            <Button size="small" look="quiet" onClick={() => onChange([])}>
              {text.clear}
            </Button>
          )}
        </>
      )}
    </Dropdown>
  );
}

type Known = { value: string; label: string };

const VALUES_MAX = 500;

function useKnownValues({ name, days, caliber }: Question & { name: FilterName }) {
  const { app_id } = useApp();
  const valueText = useDimensionValue();
  const named = NAME_OF[name];
  return useQuery({
    queryKey: ["report/values", app_id, name, days, caliber],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      post<ConsoleReport>(
        "report/ad",
        {
          app_id,
          date_list: [days.from, days.to],
          dims_list: [name],
          decimal_point: 2,
          page_size: VALUES_MAX,
          statistics_caliber: caliber,
          metrics_list: ["AppActivateStandard", "AdCost"],
          ...(named && { dims_metrics_list: [named] }),
          order_by_list: [
            { field: "AppActivateStandard", sort: 1 },
            { field: "AdCost", sort: 1 },
          ],
        },
        signal,
      ),
    select: ({ items, campaign_names, page_info }) => ({
      all: page_info.total_number,
      known: items.map((item): Known => {
        const value = String(item[name]);
        const called = named ? String(item[named] ?? "") : (campaign_names[value] ?? "");
        return { value, label: called === "" ? valueText(name, value) : `${called} · ${value}` };
      }),
    }),
  });
}

function Values({ name, chosen, onChange, ...question }: FilterProps) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const valueText = useDimensionValue();
  const [search, setSearch] = useState("");
  const query = useKnownValues({ name, ...question });
  const wanted = search.trim().toLowerCase();
  const toggle = (value: string) =>
    onChange(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value]);
  return (
    <>
      <TextField label={text.search} value={search} onChange={setSearch} />
      <QueryView query={query}>
        {({ known, all }) => {
          const strangers = chosen.filter((value) => !known.some((one) => one.value === value));
          const list = [...strangers.map((value) => ({ value, label: valueText(name, value) })), ...known];
          const found = list.filter((one) => `${one.label} ${one.value}`.toLowerCase().includes(wanted));
          const isNew = search.trim() !== "" && !list.some(({ value }) => value === search.trim());
          return (
            <>
              <div className="filter-values">
                {found.map(({ value, label }) => (
                  <Check key={value} label={label} checked={chosen.includes(value)} onChange={() => toggle(value)} />
                ))}
                {found.length === 0 && !isNew && <span className="soft small">{text.nothing}</span>}
              </div>
              {isNew && (
                <Button size="small" onClick={() => toggle(search.trim())}>
                  {text.add(search.trim())}
                </Button>
              )}
              {all > known.length && (
                <span className="soft small">{text.notAll(number(known.length), number(all))}</span>
              )}
            </>
          );
        }}
      </QueryView>
    </>
  );
}

/** A field to type versions into: no report is grouped by version, so there is no list to offer. */
function Typed({ chosen, onChange }: { chosen: string[]; onChange: (values: string[]) => void }) {
  const text = useTexts(texts);
  const [typed, setTyped] = useState("");
  const isNew = /^\d+$/.test(typed) && !chosen.includes(typed);
  return (
    <form
      className="stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        if (isNew) onChange([...chosen, typed]);
        setTyped("");
      }}
    >
      <TextField label={text.typeVersion} inputMode="numeric" value={typed} onChange={setTyped} />
      <div className="filter-values">
        {chosen.map((value) => (
          <Check key={value} label={value} checked onChange={() => onChange(chosen.filter((one) => one !== value))} />
        ))}
      </div>
      {isNew && (
        <Button size="small" type="submit">
          {text.add(typed)}
        </Button>
      )}
    </form>
  );
}
