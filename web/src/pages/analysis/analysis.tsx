import { useMemo } from "react";
import { LakeGate } from "../../analysis/lake-gate.tsx";
import { useDays } from "../../report/days.ts";
import { Views } from "../../report/views.tsx";
import { useTexts } from "../../texts.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useUrlState } from "../../url-state.ts";
import { useAnswer } from "./answer/answer-query.ts";
import { Distribution } from "./distribution/distribution.tsx";
import { Answer } from "./events/answer.tsx";
import { Editor } from "./events/editor.tsx";
import { Funnel } from "./funnel/funnel.tsx";
import { Path } from "./path/path.tsx";
import { questionTexts } from "./question-texts.ts";
import { Retention } from "./retention/retention.tsx";
import { type AnalysisState, analysisState, DEFAULTS, type UrlState } from "./state.ts";
import { texts } from "./texts.ts";
import "../lists/lists.css";
import "./analysis.css";

const SPAN = 14;
const TABS = ["events", "funnel", "retention", "distribution", "path"] as const;

export function AnalysisPage() {
  const text = useTexts(texts);
  const { tabs } = useTexts(questionTexts);
  const [url, change] = useUrlState<UrlState>(DEFAULTS);
  const days = useDays(url, change, SPAN);
  const state = useMemo(() => analysisState(url, days), [JSON.stringify(url), days.from, days.to]);
  const tab = TABS.find((name) => name === url.tab) ?? "events";
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        <Views viewed={{ page: "analysis", url: { ...url, ...days }, defaults: DEFAULTS }} onOpen={change} />
      </PageHead>
      <LakeGate>
        <Tabs
          tabs={TABS.map((name) => ({ name, title: tabs[name] }))}
          chosen={tab}
          onChoose={(name) => change({ tab: name })}
        >
          {tab === "events" && <Asking url={url} state={state} onChange={change} />}
          {tab === "funnel" && <Funnel url={url} days={days} onChange={change} />}
          {tab === "retention" && <Retention url={url} days={days} onChange={change} />}
          {tab === "distribution" && <Distribution url={url} days={days} onChange={change} />}
          {tab === "path" && <Path url={url} days={days} onChange={change} />}
        </Tabs>
      </LakeGate>
    </>
  );
}

type AskingProps = { url: UrlState; state: AnalysisState; onChange: (changes: Partial<UrlState>) => void };

/** Every change of the question asks it again. */
function Asking({ url, state, onChange }: AskingProps) {
  const query = useAnswer(state);
  return (
    <>
      <Editor state={state} refusal={query.error} onChange={onChange} />
      <Answer query={query} chart={url.chart} series={state.series} onChange={onChange} />
    </>
  );
}
