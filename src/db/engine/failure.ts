/** Errors that came from a lost connection, whatever they look like. */
const lost = new WeakSet<object>();

/** Notes that an error came from a lost connection. */
export function noteLost(error: unknown): void {
  lost.add(Object(error));
}

/**
 * Notes an error that the driver threw in place of an answer. PostgreSQL's errors and the operating system's have codes,
 * and a value that cannot be written is a TypeError or a RangeError. The driver throws everything else as a plain Error
 * without a code, and all of those are about the connection: lost, closed, or not there within the time allowed.
 */
export function noteDriverFailure(error: unknown): void {
  if (error instanceof Error && error.constructor === Error && codeOf(error) === undefined) noteLost(error);
}

/** Whether to try the same again later: the database is gone, restarting or busy, or two transactions got in each other's way. */
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
 * Whether an entry of the journal fails by what it holds, and would fail again whoever tries. PostgreSQL says so of a value
 * that does not fit (class 22), a broken constraint (23), a limit of its own that nobody can raise (54), and a row that one
 * statement would change twice (21). Our own code says so by an error that no database was part of.
 *
 * Everything else is for an operator to mend, and the same entry can be applied afterwards: privileges, missing tables,
 * time limits, servers that are read-only or do not know a statement, full disks, lost connections.
 */
export function isFaultOfData(error: unknown): boolean {
  if (isDatabaseAway(error)) return false;
  const code = codeOf(error);
  if (code === undefined) return true;
  // Node gives codes to its own errors, too: those of a wrong argument or a number out of range are our code's.
  return /^(21|22|23|54)...$/.test(code) || error instanceof TypeError || error instanceof RangeError;
}

/** Somebody else has stored the same key in the meantime. */
export function isConflict(error: unknown): boolean {
  return codeOf(error) === "23505";
}

/** Somebody holds a lock for longer than the statement was willing to wait. */
export function isLockRefused(error: unknown): boolean {
  return codeOf(error) === "55P03";
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : undefined;
}
