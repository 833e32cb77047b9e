import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { DoctorAnswer } from "../../../../src/contract/admin/doctor.ts";
import { get, post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { say } from "../../ui/toast.tsx";
import { doctorTexts } from "./doctor-texts.ts";
import { texts } from "./texts.ts";

type Finding = DoctorAnswer["findings"][number];

const REFRESH_MS = 5_000;
const TONES: Readonly<Record<Finding["severity"], Tone>> = { error: "bad", warning: "warn", hint: "accent" };

/** Problems with the data that the app sends, checked again at intervals. */
export function DoctorPanel({ appId }: { appId: number }) {
  const text = useTexts(texts);
  const { time_zone: timeZone } = useApp();
  const { number, time } = useFormat();
  const [sinceMs, setSinceMs] = useState<number>();
  const query = useQuery({
    queryKey: ["doctor", appId, sinceMs ?? 0],
    queryFn: ({ signal }) => get<DoctorAnswer>("doctor", { app_id: appId, since_ms: sinceMs }, signal),
    refetchInterval: REFRESH_MS,
  });
  return (
    <aside className="doctor card stack tight" aria-label={text.doctor}>
      <div className="row apart">
        <h2>{text.doctor}</h2>
        <Button size="small" title={text.startOverHelp} onClick={() => setSinceMs(Date.now())}>
          {text.startOver}
        </Button>
      </div>
      <QueryView query={query}>
        {({ findings, calls, since_ms }) => (
          <>
            {findings.map((finding) => (
              <FindingCard key={finding.kind} finding={finding} />
            ))}
            {findings.length === 0 && <p className="well">{calls === 0 ? text.nothingYet : text.nothingWrong}</p>}
            <p className="soft small">
              {since_ms === null ? text.lookedAtNone : text.lookedAt(number(calls), time(since_ms, timeZone))}
            </p>
          </>
        )}
      </QueryView>
    </aside>
  );
}

function FindingCard({ finding }: { finding: Finding }) {
  const text = useTexts(texts);
  const { title, help } = useTexts(doctorTexts)[finding.kind];
  const { number, ago } = useFormat();
  return (
    <article className={`finding ${finding.severity}`}>
      <div className="row apart">
        <h3>{title}</h3>
        <Badge tone={TONES[finding.severity]}>
          {text.severities[finding.severity]} · {number(finding.count)}
        </Badge>
      </div>
      <p className="small">{help}</p>
      {finding.subjects.length > 0 && (
        <p className="subjects">
          {finding.subjects.map((subject) => (
            <code key={subject}>{subject}</code>
          ))}
        </p>
      )}
      <dl className="example mono">
        {told(finding.example).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
      <div className="row apart">
        <span className="soft small">{text.lastSeen(ago(finding.last_at_ms, Date.now()))}</span>
        {finding.kind === "undeclared_event" && <DeclareButton names={finding.subjects} />}
      </div>
    </article>
  );
}

/** The example without its empty fields. */
function told(example: Finding["example"]) {
  return Object.entries(example).filter(([, value]) => value !== "");
}

/** Declares the names in a finding. Only admins may; analysts read what would have to be done. */
function DeclareButton({ names }: { names: string[] }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const client = useQueryClient();
  const mayChange = useMay("setting");
  const declaring = useMutation({
    mutationFn: () => post("metadata/events/declare", { app_id, names, state: "declared" }),
    onSuccess: async () => {
      say(text.declared(names.length));
      await client.invalidateQueries({ queryKey: ["doctor", app_id] });
    },
  });
  if (!mayChange) return null;
  return (
    <>
      <Button size="small" look="main" disabled={declaring.isPending} onClick={() => declaring.mutate()}>
        {text.declare(names.length)}
      </Button>
      {declaring.isError && <Failure error={declaring.error} />}
    </>
  );
}
