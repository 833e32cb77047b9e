import { BITS, bitsOf, countBits } from "./bits-sql.ts";
import { allOf, clauses, type Duck, duck, listed, type Table, unionOf } from "./duck-sql.ts";
import { type Reading, rowsOf } from "./source-sql.ts";

/**
 * Users of groups, each of whom may be in several: a row for each user, with the groups as bits, instead of one for each user
 * and group. For users of an event by a property with eight values, that takes 410 ms instead of 530. The groups are numbered
 * first, which reads their columns twice; blocks of 64 hold any number of them.
 *
 * `name`: the table with the users of each group. `groups`: the names of its columns, and `values`: what they are in a row.
 */
export type GroupBits = { name: Duck; groups: readonly Duck[]; values: readonly Duck[]; reading: Reading };

/** The tables up to the one with a row for each group, which has `users`. */
export function groupBitTables({ name, groups, values, reading }: GroupBits): Table[] {
  const columns = groups.map((group, index) => duck`${values[index]!} as ${group}`);
  const { filter: _, ...unfiltered } = reading.source;
  // Groups that the filter leaves out have no users later.
  const all = rowsOf({ source: unfiltered, range: reading.range, columns, isGrouped: true });
  const numbered = duck`select *, index // ${BITS} as block, index % ${BITS} as bit
from (
  select *, row_number() over (order by ${listed(groups)}) - 1 as index
  from (
    ${all}
  )
)`;
  const isSame = allOf(groups.map((group, index) => duck`g.${group} = ${values[index]!}`));
  const marked = rowsOf({
    ...reading,
    columns: [duck`e.client_id`, duck`g.block`, duck`${bitsOf(duck`g.bit`)} as marks`],
    join: duck`join ${name}_groups g on ${isSame}`,
    isGrouped: true,
  });
  const counted = countBits({ table: duck`${name}_marks`, bits: duck`marks`, keys: [duck`block`], buckets: BITS });
  const users = duck`select ${listed(groups)}, users
from (
  ${counted}
) c
join ${name}_groups g on g.block = c.block and g.bit = c.index`;
  return [
    { name: duck`${name}_groups`, of: numbered, kept: "kept" },
    { name: duck`${name}_marks`, of: marked, kept: "kept" },
    { name, of: users },
  ];
}

/** The users of the groups that are shown, by place, and of all others together. */
export function groupBitLines({ name, groups }: Pick<GroupBits, "name" | "groups">): Duck {
  const shown = duck`select ${listed([duck`place`, ...groups, duck`users`])}
from ${name}
join shown using (${listed(groups)})`;
  const others = duck`select block, ${bitsOf(duck`bit`)} as others
from ${name}_groups
anti join shown using (${listed(groups)})
group by block`;
  const users = clauses([
    duck`select ${listed([duck`null`, ...groups.map(() => duck`''`), duck`count(distinct client_id)`])}
from ${name}_marks
join (
  ${others}
) using (block)`,
    duck`where marks & others <> 0`,
    duck`having count(*) > 0`,
  ]);
  return unionOf([shown, users]);
}
