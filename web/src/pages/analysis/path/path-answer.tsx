import { useState } from "react";
import type { PathAnswer, PathCell } from "../../../../../src/contract/analysis/path.ts";
import { useFormat } from "../../../format.ts";
import { useTexts } from "../../../texts.ts";
import { DataTable } from "../../../ui/data-table.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { AnswerHead } from "../answer/answer-head.tsx";
import { type Opened, UsersDialog } from "../answer/users-dialog.tsx";
import { usePathNames } from "./path-names.ts";
import { pathTexts } from "./path-texts.ts";
import { type AskedPath, type Opening, Sankey } from "./sankey.tsx";
import { keyOf, type PathLink, type PathNode } from "./sankey-layout.ts";

/** The paths as a drawing and as a table. Events and steps open to their users. */
export function Paths({ asked }: { asked: AskedPath }) {
  const text = useTexts(pathTexts);
  const { levelName, eventName } = usePathNames(asked.question);
  const [opened, setOpened] = useState<Opened>();
  const { question, answer } = asked;
  const { direction } = question;
  const isEmpty = answer.nodes.length === 0;
  const open = (cell: PathCell, title: string) => setOpened({ name: "path", question, cell, title });
  const csvRows = () => [
    [text.step, text.from[direction], text.to[direction], text.sessions],
    ...stepsOf(answer).map(({ from, link, sessions }) => [
      levelName(from.level + 1),
      eventName(from),
      link ? eventName(link.to) : text.end[direction],
      sessions,
    ]),
  ];
  return (
    <>
      <section className="card stack tight">
        <AnswerHead asked={asked} rows={csvRows} file="path" />
        {isEmpty ? (
          <Empty title={text.empty}>
            <p>{text.emptyHelp}</p>
          </Empty>
        ) : (
          <Sankey asked={asked} onOpen={open} />
        )}
      </section>
      {!isEmpty && <StepTable asked={asked} onOpen={open} />}
      {opened && <UsersDialog opened={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}

/** The steps of one level at once: all of them would be hundreds of rows. */
function StepTable({ asked, onOpen }: Opening & { asked: AskedPath }) {
  const text = useTexts(pathTexts);
  const names = usePathNames(asked.question);
  const [chosen, setChosen] = useState("0");
  const steps = stepsOf(asked.answer);
  const levels = [...new Set(steps.map(({ from }) => from.level))];
  const level = levels.find((one) => String(one) === chosen) ?? 0;
  const { percent } = useFormat();
  const { direction } = asked.question;
  return (
    <section className="stack tight">
      {levels.length > 1 && (
        <div className="row">
          <div className="named-beside">
            <SelectField
              label={text.shownStep}
              value={String(level)}
              choices={levels.map((one) => ({ value: String(one), label: names.levelName(one + 1) }))}
              onChange={setChosen}
            />
          </div>
        </div>
      )}
      <DataTable
        label={text.table}
        columns={[
          { name: "from", title: text.from[direction], cell: ({ from }: Step) => names.eventName(from) },
          {
            name: "to",
            title: text.to[direction],
            cell: ({ link }) => (link ? names.eventName(link.to) : <span className="soft">{text.end[direction]}</span>),
          },
          {
            name: "sessions",
            title: text.sessions,
            kind: "number",
            cell: (step) => <Sessions step={step} asked={asked} onOpen={onOpen} />,
          },
          {
            name: "share",
            title: text.share[direction],
            kind: "number",
            cell: ({ from, sessions }) => percent(sessions / from.sessions),
          },
        ]}
        rows={steps.filter(({ from }) => from.level === level)}
        keyOf={({ from, link }) => `${keyOf(from)} ${link ? keyOf({ level: link.level + 1, ...link.to }) : ""}`}
      />
    </section>
  );
}

function Sessions({ step: { link, sessions }, asked, onOpen }: Opening & { step: Step; asked: AskedPath }) {
  const text = useTexts(pathTexts);
  const names = usePathNames(asked.question);
  const { number } = useFormat();
  const cell = link && names.cellOf(link);
  if (!cell) return <>{number(sessions)}</>;
  return (
    <button
      type="button"
      className="number-button"
      aria-label={text.open(names.linkTitle(link))}
      onClick={() => onOpen(cell, `${names.levelName(link.level + 1)} · ${names.linkName(link)}`)}
    >
      {number(sessions)}
    </button>
  );
}

/** A step from a node to the next, or the end of paths there. */
type Step = { from: PathNode; link?: PathLink; sessions: number };

function stepsOf({ nodes, links }: PathAnswer): Step[] {
  return nodes.flatMap((from): Step[] => {
    const own = links.filter((link) => keyOf({ level: link.level, ...link.from }) === keyOf(from));
    const steps: Step[] = own.map((link) => ({ from, link, sessions: link.sessions }));
    return from.ended > 0 ? [...steps, { from, sessions: from.ended }] : steps;
  });
}
