import { type TSchema, Type } from "typebox";
import type { Analyses, AnalysisKind } from "../../contract/analysis/analysis.ts";
import { distributionAnswer, distributionCell, distributionQuestion } from "../../contract/analysis/distribution.ts";
import { eventsAnswer, eventsCell, eventsQuestion } from "../../contract/analysis/events.ts";
import { funnelAnswer, funnelCell, funnelQuestion } from "../../contract/analysis/funnel.ts";
import { pathAnswer, pathCell, pathQuestion } from "../../contract/analysis/path.ts";
import { usersBehind } from "../../contract/analysis/question.ts";
import { retentionAnswer, retentionCell, retentionQuestion } from "../../contract/analysis/retention.ts";
import { segmentQuestion } from "../../contract/analysis/segment.ts";
import { distributionAnswer as shapeDistribution } from "./distribution-answer.ts";
import { distributionSql, distributionUsersSql } from "./distribution-sql.ts";
import type { Duck } from "./duck-sql.ts";
import { eventsAnswer as shapeEvents } from "./events-answer.ts";
import { eventsSql } from "./events-sql.ts";
import { eventsUsersSql } from "./events-users.ts";
import { funnelAnswer as shapeFunnel } from "./funnel-answer.ts";
import { funnelSql, funnelUsersSql } from "./funnel-sql.ts";
import { pathAnswer as shapePath } from "./path-answer.ts";
import { pathSql, pathUsersSql } from "./path-sql.ts";
import { retentionAnswer as shapeRetention } from "./retention-answer.ts";
import { retentionSql, retentionUsersSql } from "./retention-sql.ts";
import type { Row } from "./row.ts";
import { segmentUsersSql } from "./segment-sql.ts";
import { usersAnswer } from "./users-sql.ts";

/** A question as the interface knows it: its schemas, the statement that it becomes, and the answer made of its rows. */
export type Question<Asked extends object = object, Answer extends object = object, Cell extends object = object> = {
  says: string;
  schema: TSchema;
  answer: TSchema;
  /** Names a number of the answer. */
  cell: TSchema;
  /** `stored`: properties of events that files have as columns of their own, which makes reading them twice cheap. */
  sql: (question: Asked, stored: ReadonlySet<string>) => Duck;
  shape: (question: Asked, rows: readonly Row[]) => Answer;
  usersSql: (question: Asked, cell: Cell) => Duck;
};

type QuestionOf<Kind extends AnalysisKind> = Question<
  Analyses[Kind]["question"],
  Analyses[Kind]["answer"],
  Analyses[Kind]["cell"]
>;

export const QUESTIONS_BY_KIND: { readonly [Kind in AnalysisKind]: QuestionOf<Kind> } = {
  events: {
    says: "How many events or orders there were, by what",
    schema: eventsQuestion,
    answer: eventsAnswer,
    cell: eventsCell,
    sql: eventsSql,
    shape: shapeEvents,
    usersSql: eventsUsersSql,
  },
  funnel: {
    says: "How many users go from step to step, and how long they take",
    schema: funnelQuestion,
    answer: funnelAnswer,
    cell: funnelCell,
    sql: funnelSql,
    shape: shapeFunnel,
    usersSql: funnelUsersSql,
  },
  retention: {
    says: "How many users come back, and what they are worth",
    schema: retentionQuestion,
    answer: retentionAnswer,
    cell: retentionCell,
    sql: retentionSql,
    shape: shapeRetention,
    usersSql: retentionUsersSql,
  },
  distribution: {
    says: "How many users did something how often, on how many days, or for how much",
    schema: distributionQuestion,
    answer: distributionAnswer,
    cell: distributionCell,
    sql: distributionSql,
    shape: shapeDistribution,
    usersSql: distributionUsersSql,
  },
  path: {
    says: "What follows or precedes an event",
    schema: pathQuestion,
    answer: pathAnswer,
    cell: pathCell,
    sql: pathSql,
    shape: shapePath,
    usersSql: pathUsersSql,
  },
  segment: {
    says: "Which users a segment has",
    schema: segmentQuestion,
    answer: usersBehind,
    cell: Type.Object({}),
    sql: segmentUsersSql,
    shape: (_, rows) => usersAnswer(rows),
    usersSql: segmentUsersSql,
  },
};

/** The same as a list. The schemas check what comes in, so that it has the types that the functions want. */
export const QUESTIONS = Object.entries(QUESTIONS_BY_KIND).map(([name, question]) => ({
  name,
  ...(question as unknown as Question),
}));
export type NamedQuestion = (typeof QUESTIONS)[number];
