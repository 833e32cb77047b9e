import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { HealthAnswer } from "../../../../src/contract/admin/health.ts";
import { get } from "../../api.ts";
import { useChosenApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { allow, useGrants } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Course, type Moment } from "./course.tsx";
import { HealthTiles } from "./health-tiles.tsx";
import { Ledger } from "./ledger.tsx";
import { Nodes } from "./nodes.tsx";
import { Outbound } from "./outbound.tsx";
import { RefusedCalls } from "./refused.tsx";
import { SetAside } from "./set-aside.tsx";
import { texts } from "./texts.ts";
import "./health.css";

const REFRESH_MS = 5_000;
const MOMENTS_MAX = 240;
const TONES: Readonly<Record<HealthAnswer["state"], Tone>> = { good: "good", troubled: "warn", refusing: "bad" };
const GRAVE: readonly string[] = ["disk_short", "journal_full", "database_away", "apply_stuck"];

export function HealthPage() {
  const query = useQuery({
    queryKey: ["health"],
    queryFn: ({ signal }) => get<HealthAnswer>("health", {}, signal),
    refetchInterval: REFRESH_MS,
  });
  const moments = useMoments(query.data);
  const { app } = useChosenApp();
  // They hold what clients have sent.
  const seesEntries = allow(useGrants(), "detail");
  return (
    <QueryView query={query}>
      {(health) => (
        <>
          <Head health={health} />
          <HealthTiles health={health} />
          <Nodes health={health} />
          <RefusedCalls refused={health.refused} />
          <Ledger app={app} />
          {moments.length > 1 && <Course moments={moments} />}
          <Outbound health={health} />
          {seesEntries && <SetAside total={health.database?.set_aside ?? 0} />}
        </>
      )}
    </QueryView>
  );
}

function Head({ health }: { health: HealthAnswer }) {
  const text = useTexts(texts);
  const { instant } = useFormat();
  return (
    <>
      <PageHead
        title={text.title}
        about={text.about(health.version, instant(health.started_at_ms), health.roles.join(", "))}
      >
        <Badge tone={TONES[health.state]}>{text.states[health.state]}</Badge>
      </PageHead>
      {health.problems.length > 0 && (
        <ul className="problems">
          {health.problems.map((problem) => (
            <li key={problem} className={GRAVE.includes(problem) ? "grave" : undefined}>
              {text.problems[problem]}
              {problem === "apply_stuck" && <span className="fault"> {health.intake.apply_obstacle}</span>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The history since the page was opened; it is kept nowhere else. */
function useMoments(health: HealthAnswer | undefined): readonly Moment[] {
  const [moments, setMoments] = useState<readonly Moment[]>([]);
  useEffect(() => {
    if (!health) return;
    const { now_ms: atMs, intake } = health;
    const moment = { atMs, lagMs: intake.apply_lag_ms, backlogBytes: intake.backlog_bytes };
    setMoments((before) => [...before, moment].slice(-MOMENTS_MAX));
  }, [health]);
  return moments;
}
