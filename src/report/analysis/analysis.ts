import type { Analyses, AnalysisKind } from "../../contract/analysis/analysis.ts";
import type { UsersBehind } from "../../contract/analysis/question.ts";
import { distributionAnswer } from "./distribution-answer.ts";
import { distributionSql, distributionUsersSql } from "./distribution-sql.ts";
import { type Duck, textOf } from "./duck-sql.ts";
import { eventsAnswer } from "./events-answer.ts";
import { eventsSql } from "./events-sql.ts";
import { eventsUsersSql } from "./events-users.ts";
import { funnelAnswer } from "./funnel-answer.ts";
import { funnelSql, funnelUsersSql } from "./funnel-sql.ts";
import { pathAnswer } from "./path-answer.ts";
import { pathSql, pathUsersSql } from "./path-sql.ts";
import { retentionAnswer } from "./retention-answer.ts";
import { retentionSql, retentionUsersSql } from "./retention-sql.ts";
import type { Row, RunSql } from "./row.ts";
import { segmentUsersSql } from "./segment-sql.ts";
import { usersAnswer } from "./users-sql.ts";

/** How a kind of question is asked: its statement, the answer from the rows, and the statement for the users of a number. */
type Analysis<Kind extends AnalysisKind> = {
  sql: (question: Analyses[Kind]["question"]) => Duck;
  answer: (question: Analyses[Kind]["question"], rows: readonly Row[]) => Analyses[Kind]["answer"];
  usersSql: (question: Analyses[Kind]["question"], cell: Analyses[Kind]["cell"]) => Duck;
};

const ANALYSES: { [Kind in AnalysisKind]: Analysis<Kind> } = {
  events: { sql: eventsSql, answer: eventsAnswer, usersSql: eventsUsersSql },
  funnel: { sql: funnelSql, answer: funnelAnswer, usersSql: funnelUsersSql },
  retention: { sql: retentionSql, answer: retentionAnswer, usersSql: retentionUsersSql },
  distribution: { sql: distributionSql, answer: distributionAnswer, usersSql: distributionUsersSql },
  path: { sql: pathSql, answer: pathAnswer, usersSql: pathUsersSql },
  segment: { sql: segmentUsersSql, answer: (_, rows) => usersAnswer(rows), usersSql: segmentUsersSql },
};

/** The statement of a question, as people are shown it. Throws a refusal that says what to change. */
export function statementOf<Kind extends AnalysisKind>(kind: Kind, question: Analyses[Kind]["question"]): string {
  return textOf(ANALYSES[kind].sql(question));
}

export function usersStatementOf<Kind extends AnalysisKind>(
  kind: Kind,
  question: Analyses[Kind]["question"],
  cell: Analyses[Kind]["cell"],
): string {
  return textOf(ANALYSES[kind].usersSql(question, cell));
}

export async function ask<Kind extends AnalysisKind>(
  run: RunSql,
  kind: Kind,
  question: Analyses[Kind]["question"],
): Promise<Analyses[Kind]["answer"]> {
  return ANALYSES[kind].answer(question, await run(statementOf(kind, question)));
}

/** The users behind a number of an answer. */
export async function usersBehind<Kind extends AnalysisKind>(
  run: RunSql,
  kind: Kind,
  question: Analyses[Kind]["question"],
  cell: Analyses[Kind]["cell"],
): Promise<UsersBehind> {
  return usersAnswer(await run(usersStatementOf(kind, question, cell)));
}
