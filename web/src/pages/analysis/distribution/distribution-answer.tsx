import { useMemo, useState } from "react";
import type {
  DistributionAnswer,
  DistributionCell,
  DistributionQuestion,
} from "../../../../../src/contract/analysis/distribution.ts";
import type { CsvRow } from "../../../analysis/csv-text.ts";
import { useFormat } from "../../../format.ts";
import { useTexts } from "../../../texts.ts";
import { Chart } from "../../../ui/chart.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { Tile } from "../../../ui/tile.tsx";
import { AnswerHead } from "../answer/answer-head.tsx";
import type { Asked } from "../answer/answer-query.ts";
import { type Opened, UsersDialog } from "../answer/users-dialog.tsx";
import { useSourceName } from "../question/source-name.ts";
import { bucketText, sharesOf } from "./buckets.ts";
import { distributionTexts } from "./distribution-texts.ts";

type AskedDistribution = Asked<DistributionQuestion, DistributionAnswer>;
type Opening = { onOpen: (cell: DistributionCell, title: string) => void };

/** A bar for each bucket, and the figures of all users. Every number of users opens to them. */
export function Histogram({ asked }: { asked: AskedDistribution }) {
  const text = useTexts(distributionTexts);
  const sourceName = useSourceName();
  const [opened, setOpened] = useState<Opened>();
  const { question, answer } = asked;
  const isSum = question.measure === "sum";
  const subject = `${sourceName(question)} · ${text.measures[question.measure]}`;
  const open = (cell: DistributionCell, title: string) =>
    setOpened({ name: "distribution", question, cell, title: `${subject} · ${title}` });
  const heads = [text.from, text.until, text.users];
  return (
    <>
      <section className="card stack tight">
        <AnswerHead asked={asked} rows={() => [heads, ...csvRows(answer)]} file="distribution" />
        {answer.users === 0 ? (
          <Empty title={isSum ? text.emptySum : text.empty}>
            <p>{isSum ? text.emptySumHelp : text.emptyHelp}</p>
          </Empty>
        ) : (
          <>
            <Figures answer={answer} onOpen={open} />
            <Bars asked={asked} onOpen={open} />
          </>
        )}
      </section>
      {answer.users > 0 && <BucketTable asked={asked} onOpen={open} />}
      {opened && <UsersDialog opened={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}

function Figures({ answer, onOpen }: Opening & { answer: DistributionAnswer }) {
  const text = useTexts(distributionTexts);
  const { number } = useFormat();
  const users = number(answer.users);
  return (
    <div className="tiles">
      <Tile
        name={text.users}
        value={
          <button
            type="button"
            className="number-button"
            aria-label={text.open(text.everyone, users)}
            onClick={() => onOpen({}, text.everyone)}
          >
            {users}
          </button>
        }
      />
      {(["average", "median", "least", "greatest"] as const).map((name) => {
        const value = answer[name];
        return <Tile key={name} name={text[name]} value={value === null ? "–" : number(value)} />;
      })}
    </div>
  );
}

function Bars({ asked, onOpen }: Opening & { asked: AskedDistribution }) {
  const text = useTexts(distributionTexts);
  const names = useBucketNames(asked);
  const { number } = useFormat();
  const { buckets } = asked.answer;
  const option = useMemo(
    () => ({
      // In two lines, more of them fit on a narrow screen.
      xAxis: { type: "category", data: names, axisLabel: { formatter: (name: string) => name.replace(" – ", " –\n") } },
      yAxis: { type: "value", minInterval: 1, axisLabel: { formatter: number } },
      series: [
        {
          type: "bar",
          name: text.users,
          barCategoryGap: "12%",
          barMaxWidth: 96,
          data: buckets.map(({ users }) => users),
          tooltip: { valueFormatter: number },
        },
      ],
    }),
    [asked, names.join(), text, number],
  );
  const pick = ({ dataIndex }: { dataIndex: number }) => {
    const { from, until } = buckets[dataIndex]!;
    onOpen({ from, until }, names[dataIndex]!);
  };
  return <Chart label={text.chart} option={option} height={300} onPick={pick} />;
}

function BucketTable({ asked, onOpen }: Opening & { asked: AskedDistribution }) {
  const text = useTexts(distributionTexts);
  const names = useBucketNames(asked);
  const { number, percent } = useFormat();
  const { buckets, users: all } = asked.answer;
  const shares = sharesOf(buckets, all);
  const rows = buckets.map((bucket, index) => ({ ...bucket, ...shares[index]!, name: names[index]! }));
  return (
    <DataTable
      label={text.table}
      columns={[
        {
          name: "bucket",
          title: text.measures[asked.question.measure],
          cell: ({ name }) => <span className="nowrap">{name}</span>,
        },
        {
          name: "users",
          title: text.users,
          kind: "number",
          cell: ({ name, from, until, users }) =>
            users === 0 ? (
              "0"
            ) : (
              <button
                type="button"
                className="number-button"
                aria-label={text.open(name, number(users))}
                onClick={() => onOpen({ from, until }, name)}
              >
                {number(users)}
              </button>
            ),
        },
        { name: "share", title: text.share, kind: "number", cell: ({ share }) => percent(share) },
        { name: "up-to", title: text.upTo, kind: "number", cell: ({ upTo }) => percent(upTo) },
      ]}
      rows={rows}
      keyOf={({ name }) => name}
    />
  );
}

function useBucketNames({ question, answer }: AskedDistribution): string[] {
  const { number } = useFormat();
  return answer.buckets.map((bucket) => bucketText(bucket, question.measure, number));
}

function csvRows({ buckets }: DistributionAnswer): CsvRow[] {
  return buckets.map(({ from, until, users }) => [from, until, users]);
}
