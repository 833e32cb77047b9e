import { type CSSProperties, useState } from "react";
import type { FunnelAnswer, FunnelCell, FunnelQuestion } from "../../../../../src/contract/analysis/funnel.ts";
import type { CsvRow } from "../../../analysis/csv-text.ts";
import { useFormat } from "../../../format.ts";
import { useTexts } from "../../../texts.ts";
import { type Column, DataTable } from "../../../ui/data-table.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { AnswerHead } from "../answer/answer-head.tsx";
import type { Asked } from "../answer/answer-query.ts";
import { useGroupName } from "../answer/group-name.ts";
import { type Opened, UsersDialog } from "../answer/users-dialog.tsx";
import { useSourceName } from "../question/source-name.ts";
import { questionTexts } from "../question-texts.ts";
import { useDurationText } from "./duration-text.ts";

type Group = FunnelAnswer["groups"][number];
type Step = Group["steps"][number];
type AskedFunnel = Asked<FunnelQuestion, FunnelAnswer>;

/** A bar for each step of all users, and the groups below. Who reached a step, and who stopped there, opens. */
export function FunnelSteps({ asked }: { asked: AskedFunnel }) {
  const text = useTexts(questionTexts);
  const [opened, setOpened] = useState<Opened>();
  const names = useStepNames(asked.question);
  const { groups } = asked.answer;
  const [all] = groups;
  const open = (cell: FunnelCell, title: string) =>
    setOpened({ name: "funnel", question: asked.question, cell, title });
  const isEmpty = !all || all.steps[0]?.users === 0;
  return (
    <>
      <section className="card stack tight">
        <AnswerHead asked={asked} rows={() => csvRows(groups, names, text.group)} file="funnel" />
        {isEmpty ? (
          <Empty title={text.noUsers}>
            <p>{text.noUsersHelp}</p>
          </Empty>
        ) : (
          <ol className="funnel">
            {all.steps.map((step, index) => (
              <StepBar key={index} step={step} index={index} name={names[index] ?? ""} onOpen={open} />
            ))}
          </ol>
        )}
      </section>
      {groups.length > 1 && <GroupTable asked={asked} names={names} onOpen={open} />}
      {opened && <UsersDialog opened={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}

function useStepNames({ steps }: FunnelQuestion): string[] {
  const sourceName = useSourceName();
  return steps.map((step, index) => `${index + 1} ${sourceName(step)}`);
}

type Opening = { onOpen: (cell: FunnelCell, title: string) => void };

function StepBar({ step, index, name, onOpen }: Opening & { step: Step; index: number; name: string }) {
  const text = useTexts(questionTexts);
  const { number, percent } = useFormat();
  const duration = useDurationText();
  const share = { "--share": step.conversion ?? 0 } as CSSProperties;
  const open = (end: FunnelCell["end"]) => onOpen({ step: index, end, kind: "all" }, name);
  return (
    <li>
      <span className="row apart">
        <b>{name}</b>
        <button
          type="button"
          className="number-button"
          aria-label={text.reached(name, number(step.users))}
          onClick={() => open("reached")}
        >
          {number(step.users)}
        </button>
      </span>
      <span className="funnel-bar" style={share} />
      <span className="row soft small">
        {index > 0 && step.conversion !== null && <span>{text.ofFirst(percent(step.conversion))}</span>}
        {index > 1 && step.step_conversion !== null && <span>{text.ofBefore(percent(step.step_conversion))}</span>}
        {step.median_ms !== null && step.average_ms !== null && (
          <span>{text.took(duration(step.median_ms), duration(step.average_ms))}</span>
        )}
        {step.dropped > 0 && (
          <button
            type="button"
            className="number-button"
            aria-label={text.showDropped(name, number(step.dropped))}
            onClick={() => open("dropped")}
          >
            {text.dropped(number(step.dropped))}
          </button>
        )}
      </span>
    </li>
  );
}

function GroupTable({ asked, names, onOpen }: Opening & { asked: AskedFunnel; names: readonly string[] }) {
  const text = useTexts(questionTexts);
  const groupName = useGroupName(asked.question.split);
  const { number, percent } = useFormat();
  const columns = names.map((title, index): Column<Group> => {
    const cell = ({ kind, group, steps }: Group) => {
      const { users = 0, conversion = null } = steps[index] ?? {};
      const named: FunnelCell = { step: index, end: "reached", kind, ...(kind === "group" && { group }) };
      return (
        <span className="compared">
          <button
            type="button"
            className="number-button"
            aria-label={text.reached(title, number(users))}
            onClick={() => onOpen(named, `${title} · ${groupName({ kind, group })}`)}
          >
            {number(users)}
          </button>
          {index > 0 && conversion !== null && <span className="soft small">{percent(conversion)}</span>}
        </span>
      );
    };
    return { name: String(index), title, kind: "number", cell };
  });
  return (
    <DataTable
      label={text.table}
      columns={[{ name: "group", title: text.group, cell: (group: Group) => groupName(group) }, ...columns]}
      rows={asked.answer.groups}
      keyOf={({ kind, group }) => `${kind} ${group}`}
    />
  );
}

function csvRows(groups: readonly Group[], names: readonly string[], head: string): CsvRow[] {
  const rows = groups.map(({ kind, group, steps }) => [
    kind === "group" ? group : kind,
    ...steps.map(({ users }) => users),
  ]);
  return [[head, ...names], ...rows];
}
