/** Errors that came from a lost connection, whatever they look like. */
const lost = new WeakSet<object>();

/** Notes that an error came from a lost connection. */
export function noteLost(error: unknown): void {
  lost.add(Object(error));
}

/**
 * Notes an error that the driver itself threw. Errors of PostgreSQL and of the operating system have codes, and a value
 * that cannot be serialised is a TypeError or a RangeError. The driver throws everything else as a plain Error without
 * a code, and all of those concern the connection: lost, closed, or not made in time.
 */
export function noteDriverFailure(error: unknown): void {
  if (error instanceof Error && error.constructor === Error && codeOf(error) === undefined) noteLost(error);
}

/** Adds the statement to an error that says it is not supported, so that an operator can tell which one the engine refuses. */
export function nameRefused(error: unknown, statement: string): void {
  if (error instanceof Error && codeOf(error) === "0A000")
    error.message = `${error.message} In: ${statement.replaceAll(/\s+/g, " ").slice(0, STATEMENT_SHOWN)}`;
}

/** Enough of a statement to find it. */
const STATEMENT_SHOWN = 160;

/** Whether to retry later: the database is gone, restarting or busy, or two transactions collided. */
export function isDatabaseAway(error: unknown): boolean {
  if (lost.has(Object(error))) return true;
  const code = codeOf(error);
  if (code === undefined) return false;
  if (/^(ECONN|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH)/.test(code)) return true;
  // Connection errors, shutdown, lack of resources, serialisation, deadlock, and a transaction that was left waiting for
  // too long. XX000 is an internal error of the server, which is also what Citus reports when it has lost a worker.
  return /^(08|53|57P|25P03|40001|40P01|55P03|58030|XX000)/.test(code);
}

/**
 * Whether the content of a journal entry causes the failure, so that every retry would fail too. PostgreSQL reports
 * this for a value that does not fit (class 22), a broken constraint (23), a fixed limit of its own (54), and a row
 * that one statement would change twice (21). In our own code it is any error without a database code.
 *
 * An operator can fix everything else, and the same entry can be applied afterwards: privileges, missing tables, time
 * limits, servers that are read-only or do not know a statement, full disks, lost connections.
 */
export function isFaultOfData(error: unknown): boolean {
  if (isDatabaseAway(error)) return false;
  const code = codeOf(error);
  if (code === undefined) return true;
  // Node's own errors have codes too; a wrong argument or a number out of range comes from our code.
  return /^(21|22|23|54)...$/.test(code) || error instanceof TypeError || error instanceof RangeError;
}

/** Whether the server takes no writes: after a failover it may be a standby that has kept its connections. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === "25006";
}

/**
 * Whether another process has stored the same key meanwhile, or dropped the partition that a row belongs to, which is
 * reported like a broken check but names none.
 */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error);
  return code === "23505" || (code === "23514" && (error as { constraint?: string }).constraint === undefined);
}

/** Whether the tables are not there, or not yet. */
export function isTableMissing(error: unknown): boolean {
  return codeOf(error) === "42P01";
}

/** Whether this transaction and another waited for each other, and this one was ended. */
export function isDeadlock(error: unknown): boolean {
  return codeOf(error) === "40P01";
}

/** Whether a lock was held for longer than the statement was willing to wait. */
export function isLockRefused(error: unknown): boolean {
  return codeOf(error) === "55P03";
}

/**
 * What a machine refused of a COPY. Citus passes on its words, but with the code of an internal error, as for a lost machine:
 * such a batch would be tried forever.
 */
const REFUSED_ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/^duplicate key value violates unique constraint/, "23505"],
  [/^no partition of relation/, "23514"],
  [/ violates (check|not-null) constraint /, "23000"],
  [/^index row (size|requires) /, "54000"],
];

function codeOf(error: unknown): string | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== "string") return undefined;
  if (code !== "XX000") return code;
  return REFUSED_ELSEWHERE.find(([words]) => words.test(String(message)))?.[1] ?? code;
}
