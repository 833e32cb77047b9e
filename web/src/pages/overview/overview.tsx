import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ReportBatch } from "../../../../src/contract/admin/console-report.ts";
import { post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useCatalogue } from "../../report/catalogue.ts";
import { useDays, useToday } from "../../report/days.ts";
import { FilterBar } from "../../report/filter-bar.tsx";
import { FILTER_NAMES, type FilterName, filteringOf, NO_FILTER } from "../../report/filter-state.ts";
import { ReadingFields, readingOf } from "../../report/reading-fields.tsx";
import { Refreshing } from "../../report/refreshing.tsx";
import { useTexts } from "../../texts.ts";
import { DateRange } from "../../ui/date-range.tsx";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { useUrlState } from "../../url-state.ts";
import { Curves } from "./curves.tsx";
import { HeatMap } from "./heat-map.tsx";
import { Hours } from "./hours.tsx";
import { Platforms } from "./platforms.tsx";
import { type Asked, type OverviewAnswers, questionsOf } from "./questions.ts";
import { texts } from "./texts.ts";
import { Tiles } from "./tiles.tsx";
import "./overview.css";

const SPAN = 30;
const FIRST_FILTERS: readonly FilterName[] = ["ad_platform", "channel", "os_platform", "turbo_promoted_object_id"];

const DEFAULTS = { from: "", to: "", caliber: "behavior_occurred_time", roi: "1", ...NO_FILTER };

export function OverviewPage() {
  const text = useTexts(texts);
  const [state, change] = useUrlState<Record<keyof typeof DEFAULTS, string>>(DEFAULTS);
  const today = useToday();
  const days = useDays(state, change, SPAN);
  const reading = readingOf(state);
  const filter = FILTER_NAMES.map((name) => state[name]).join();
  const asked = useMemo(
    (): Asked => ({ days, today, reading, filtering: filteringOf(state) }),
    [days.from, days.to, today, reading.caliber, reading.roi, filter],
  );
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <div className="row fields">
        <DateRange days={days} today={today} onChange={change} />
        <ReadingFields reading={reading} onChange={change} />
      </div>
      <FilterBar first={FIRST_FILTERS} state={state} onChange={change} days={days} caliber={reading.caliber} />
      <Figures asked={asked} />
    </>
  );
}

function Figures({ asked }: { asked: Asked }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const catalogue = useCatalogue(asked.reading);
  const query = useQuery({
    queryKey: ["report/overview", app_id, asked],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<OverviewAnswers & { asked: Asked }> => {
      const questions = questionsOf(asked);
      const body = { app_id, reports: [...questions.values()] };
      const { reports } = await post<ReportBatch>("report/ad/batch", body, signal);
      const byName = new Map([...questions.keys()].map((name, at) => [name, reports[at]]));
      return { asked, report: (name) => byName.get(name) };
    },
  });
  return (
    <QueryView query={catalogue}>
      {({ metrics }) => (
        <QueryView query={query}>
          {/* Until newer answers arrive, the older ones are shown with the question that they answer. */}
          {({ asked: shown, ...answers }) =>
            answers.report("range")?.items.length === 0 ? (
              <Empty title={text.none}>
                <p>{text.noneHelp}</p>
              </Empty>
            ) : (
              <Refreshing query={query}>
                <Tiles answers={answers} asked={shown} metrics={metrics} />
                <Hours answers={answers} asked={shown} metrics={metrics} />
                <Curves answers={answers} />
                <HeatMap answers={answers} asked={shown} />
                <Platforms answers={answers} asked={shown} />
              </Refreshing>
            )
          }
        </QueryView>
      )}
    </QueryView>
  );
}
