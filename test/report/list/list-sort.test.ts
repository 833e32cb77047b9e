import { expect, test } from "vitest";
import { sql } from "../../../src/db/engine/sql.ts";
import { readSorts, type SortBy } from "../../../src/report/list/list-sort.ts";

const FIELDS = { Name: [sql`u.name`], Version: [sql`u.version`] };

test("a field that is named again changes nothing, however often it is", () => {
  const asked: SortBy[] = [
    { field: "Name", sort: 1 },
    { field: "Version", sort: 0 },
  ];
  const again = Array.from({ length: 5_000 }, (_, index): SortBy => ({ field: "Name", sort: index % 2 === 0 ? 0 : 1 }));
  expect(readSorts([...asked, ...again], FIELDS)).toEqual(asked);
});

test("a field by which nothing is sorted is refused by its name", () => {
  expect(() => readSorts([{ field: "Nothing", sort: 1 }], FIELDS)).toThrow(/"Nothing" is not sortable/);
});
