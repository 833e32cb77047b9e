import type { Analyses, AnalysisKind } from "../../../src/contract/analysis/analysis.ts";
import type { UsersBehind } from "../../../src/contract/analysis/question.ts";
import { textOf } from "../../../src/report/analysis/duck-sql.ts";
import { QUESTIONS_BY_KIND } from "../../../src/report/analysis/questions.ts";
import type { RunSql } from "../../../src/report/analysis/row.ts";
import { usersAnswer } from "../../../src/report/analysis/users-sql.ts";

type Asked<Kind extends AnalysisKind> = Analyses[Kind]["question"];

/** The statement of a question. */
export function statementOf<Kind extends AnalysisKind>(kind: Kind, question: Asked<Kind>): string {
  return textOf(QUESTIONS_BY_KIND[kind].sql(question, new Set()));
}

export async function ask<Kind extends AnalysisKind>(
  run: RunSql,
  kind: Kind,
  question: Asked<Kind>,
): Promise<Analyses[Kind]["answer"]> {
  return QUESTIONS_BY_KIND[kind].shape(question, await run(statementOf(kind, question)));
}

/** The users behind a number of an answer. */
export async function usersBehind<Kind extends AnalysisKind>(
  run: RunSql,
  kind: Kind,
  question: Asked<Kind>,
  cell: Analyses[Kind]["cell"],
): Promise<UsersBehind> {
  return usersAnswer(await run(textOf(QUESTIONS_BY_KIND[kind].usersSql(question, cell))));
}
