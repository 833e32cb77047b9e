import { clauses, type Duck, duck, listed } from "./duck-sql.ts";

/**
 * In which of many buckets a user is, as the bits of one number. A row for each user instead of one for each user and bucket
 * halves the time of a question: grouping by a text costs most of it, and more so the more groups there are.
 */
export function fitsBits(buckets: number): boolean {
  return buckets <= BITS;
}

export const BITS = 64;
const BYTE = 8;

/** All buckets of a group's rows, from the number of each row's bucket. */
export function bitsOf(index: Duck): Duck {
  return duck`bit_or(cast(1 as ubigint) << cast(${index} as ubigint))`;
}

/**
 * For each key and bucket the number of a table's rows with that bit. Rows are first counted by each byte of their bits,
 * which leaves few of them: to look at every bit of every row takes ten times as long.
 */
export function countBits({ table, bits, keys, buckets }: CountedBits): Duck {
  const columns = (...more: readonly Duck[]) => listed([...keys, ...more]);
  const marks = duck`(${bits} >> cast(byte * ${BYTE} as ubigint)) & 255`;
  const bytes = duck`select ${columns(duck`byte`, duck`${marks} as marks`, duck`count(*) as users`)}
from ${table}
cross join range(0, ${Math.ceil(buckets / BYTE)}) as b(byte)
where ${marks} <> 0
group by all`;
  return clauses([
    duck`select ${columns(duck`byte * ${BYTE} + bit as index`, duck`cast(sum(users) as bigint) as users`)}
from (
  ${bytes}
)`,
    duck`cross join range(0, ${BYTE}) as r(bit)`,
    duck`where (marks >> cast(bit as ubigint)) & 1 = 1`,
    duck`group by all`,
  ]);
}

type CountedBits = { table: Duck; bits: Duck; keys: readonly Duck[]; buckets: number };
