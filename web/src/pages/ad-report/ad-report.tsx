import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { ConsoleReport, ShownCatalogue } from "../../../../src/contract/admin/console-report.ts";
import { post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useCatalogue } from "../../report/catalogue.ts";
import { useDays, useToday } from "../../report/days.ts";
import { FilterBar } from "../../report/filter-bar.tsx";
import type { FilterName } from "../../report/filter-state.ts";
import { ReadingFields } from "../../report/reading-fields.tsx";
import { Refreshing } from "../../report/refreshing.tsx";
import { Views } from "../../report/views.tsx";
import { useLanguage, useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { DateRange } from "../../ui/date-range.tsx";
import { Failure } from "../../ui/failure.tsx";
import { SelectField } from "../../ui/field.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Pager } from "../../ui/pager.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { useUrlState } from "../../url-state.ts";
import { Columns } from "./columns.tsx";
import { downloadCsv } from "./download.ts";
import { ReportChart } from "./report-chart.tsx";
import { ReportTable } from "./report-table.tsx";
import { RequestDialog } from "./request-dialog.tsx";
import {
  consoleBody,
  DEFAULTS,
  filterKey,
  type ReportState,
  reportState,
  SIZES,
  sortText,
  type UrlState,
} from "./state.ts";
import { texts } from "./texts.ts";
import "./ad-report.css";

const SPAN = 14;
const FIRST_FILTERS: readonly FilterName[] = ["ad_platform", "channel", "os_platform", "turbo_promoted_object_id"];

export function AdReportPage() {
  const [url, changeUrl] = useUrlState<UrlState>(DEFAULTS);
  const days = useDays(url, changeUrl, SPAN);
  const state = useMemo(
    () => reportState(url, days),
    [JSON.stringify({ ...url, from: days.from, to: days.to }), filterKey(url)],
  );
  // Every change to the rows goes back to their first page.
  const change = (changes: Partial<UrlState>) => changeUrl({ page: "1", ...changes });
  const catalogue = useCatalogue(state.reading);
  return (
    <>
      <Head url={url} state={state} onOpen={changeUrl} />
      <Question url={url} state={state} onChange={change} />
      <QueryView query={catalogue}>
        {(known) => (
          <>
            <Columns state={state} catalogue={known} onChange={change} />
            <ReportChart url={url} state={state} catalogue={known} onChange={changeUrl} />
            <Rows state={state} catalogue={known} onChange={change} />
          </>
        )}
      </QueryView>
    </>
  );
}

type HeadProps = { url: UrlState; state: ReportState; onOpen: (state: UrlState) => void };

function Head({ url, state, onOpen }: HeadProps) {
  const text = useTexts(texts);
  const language = useLanguage();
  const { app_id } = useApp();
  const [isAsking, setAsking] = useState(false);
  const { from, to } = state.days;
  const downloading = useMutation({
    mutationFn: () =>
      downloadCsv(
        "report/ad/csv",
        { ...consoleBody(app_id, state), language },
        `ad-report-${app_id}-${from}-${to}.csv`,
      ),
  });
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        <Views viewed={{ page: "report", url, defaults: DEFAULTS }} onOpen={onOpen} />
        <Button onClick={() => setAsking(true)}>{text.apiCall}</Button>
        <Button disabled={downloading.isPending} onClick={() => downloading.mutate()}>
          {downloading.isPending ? text.downloading : text.download}
        </Button>
      </PageHead>
      {downloading.error && <Failure error={downloading.error} onRetry={() => downloading.mutate()} />}
      {isAsking && <RequestDialog state={state} onClose={() => setAsking(false)} />}
    </>
  );
}

type QuestionProps = { url: UrlState; state: ReportState; onChange: (changes: Partial<UrlState>) => void };

function Question({ url, state, onChange }: QuestionProps) {
  const text = useTexts(texts);
  const today = useToday();
  const { days, reading } = state;
  return (
    <>
      <div className="row fields">
        <DateRange days={days} today={today} onChange={onChange} />
        <ReadingFields reading={reading} onChange={onChange} />
        <SelectField
          label={text.decimals}
          value={String(state.decimals)}
          choices={["2", "4"].map((value) => ({ value, label: value }))}
          onChange={(decimals) => onChange({ decimals })}
        />
      </div>
      <FilterBar first={FIRST_FILTERS} state={url} onChange={onChange} days={days} caliber={reading.caliber} />
    </>
  );
}

type RowsProps = { state: ReportState; catalogue: ShownCatalogue; onChange: (changes: Partial<UrlState>) => void };

function Rows({ state, catalogue, onChange }: RowsProps) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const { app_id } = useApp();
  const body = { ...consoleBody(app_id, state), page: state.page, page_size: state.size };
  const query = useQuery({
    queryKey: ["report/ad", body],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => ({ state, report: await post<ConsoleReport>("report/ad", body, signal) }),
  });
  return (
    <QueryView query={query}>
      {/* Until newer rows arrive, the older ones are shown with their own columns. */}
      {({ state: shown, report }) => (
        <Refreshing query={query}>
          <ReportTable
            report={report}
            state={{ ...shown, sort: state.sort }}
            catalogue={catalogue}
            onSort={(sort) => onChange({ sort: sortText(sort) })}
          />
          <div className="row apart">
            <SelectField
              label={text.rows}
              value={String(state.size)}
              choices={SIZES.map((size) => ({ value: size, label: size }))}
              onChange={(size) => onChange({ size })}
            />
            <div className="grow">
              <Pager
                page={state.page}
                pageSize={state.size}
                rows={report.page_info.total_number}
                onPage={(page) => onChange({ page: String(page) })}
              />
              {report.data_age_s > 0 && <span className="soft small">{text.age(number(report.data_age_s))}</span>}
            </div>
          </div>
        </Refreshing>
      )}
    </QueryView>
  );
}
