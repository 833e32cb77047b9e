import type { TSchema } from "typebox";
import {
  type EventsAnswer,
  type EventsCell,
  type EventsQuestion,
  eventsAnswer,
  eventsCell,
  eventsQuestion,
} from "../../contract/analysis/events.ts";
import {
  type FunnelAnswer,
  type FunnelCell,
  type FunnelQuestion,
  funnelAnswer,
  funnelCell,
  funnelQuestion,
} from "../../contract/analysis/funnel.ts";
import {
  type RetentionAnswer,
  type RetentionCell,
  type RetentionQuestion,
  retentionAnswer,
  retentionCell,
  retentionQuestion,
} from "../../contract/analysis/retention.ts";
import type { Duck } from "./duck-sql.ts";
import { eventsAnswer as shapeEvents } from "./events-answer.ts";
import { eventsSql } from "./events-sql.ts";
import { eventsUsersSql } from "./events-users.ts";
import { funnelAnswer as shapeFunnel } from "./funnel-answer.ts";
import { funnelSql, funnelUsersSql } from "./funnel-sql.ts";
import { retentionAnswer as shapeRetention } from "./retention-answer.ts";
import { retentionSql, retentionUsersSql } from "./retention-sql.ts";
import type { Row } from "./row.ts";

/** A question as the interface knows it: its schemas, the statement that it becomes, and the answer made of its rows. */
export type Question<Asked extends object = object, Answer extends object = object, Cell extends object = object> = {
  name: string;
  says: string;
  schema: TSchema;
  answer: TSchema;
  /** Names a number of the answer. */
  cell: TSchema;
  sql: (question: Asked) => Duck;
  shape: (question: Asked, rows: readonly Row[]) => Answer;
  usersSql: (question: Asked, cell: Cell) => Duck;
};

/** A question among others. Its schemas check what comes in, so that it has the types that its functions want. */
function among<Asked extends object, Answer extends object, Cell extends object>(
  question: Question<Asked, Answer, Cell>,
): Question {
  return question as unknown as Question;
}

export const QUESTIONS: readonly Question[] = [
  among<EventsQuestion, EventsAnswer, EventsCell>({
    name: "events",
    says: "How many events or orders there were, by what",
    schema: eventsQuestion,
    answer: eventsAnswer,
    cell: eventsCell,
    sql: eventsSql,
    shape: shapeEvents,
    usersSql: eventsUsersSql,
  }),
  among<FunnelQuestion, FunnelAnswer, FunnelCell>({
    name: "funnel",
    says: "How many users go from step to step, and how long they take",
    schema: funnelQuestion,
    answer: funnelAnswer,
    cell: funnelCell,
    sql: funnelSql,
    shape: shapeFunnel,
    usersSql: funnelUsersSql,
  }),
  among<RetentionQuestion, RetentionAnswer, RetentionCell>({
    name: "retention",
    says: "How many users come back, and what they are worth",
    schema: retentionQuestion,
    answer: retentionAnswer,
    cell: retentionCell,
    sql: retentionSql,
    shape: shapeRetention,
    usersSql: retentionUsersSql,
  }),
];
