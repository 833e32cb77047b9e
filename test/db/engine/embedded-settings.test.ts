import { expect, test } from "vitest";
import { sharedBuffersMb, walMb } from "../../../src/db/engine/embedded-settings.ts";

const GIB = 1024 ** 3;

test.each([
  [4, 512],
  [20, 1_024],
  [40, 2_048],
  [80, 4_096],
  [4_000, 4_096],
])("on a disk of %i GiB the write-ahead log takes up to %i MiB", (disk, wal) => {
  expect(walMb(disk * GIB)).toBe(wal);
});

test.each([
  [0.5, 128],
  [4, 512],
  [24, 1_024],
])("with %f GiB of memory the database keeps %i MiB of pages", (memory, buffers) => {
  expect(sharedBuffersMb(memory * GIB)).toBe(buffers);
});
