import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ATTACKS } from "../../sim/attack/attacks/attacks.ts";
import type { Sample } from "../../sim/attack/ordinary.ts";
import { writeFigures } from "../../sim/attack/security-page.ts";
import type { Phase, Siege } from "../../sim/attack/siege.ts";
import { holdsOf } from "../../sim/attack/verdict.ts";
import { p99Of, worstWindow } from "../../sim/attack/windows.ts";

const QUIET: Phase = {
  name: "quiet",
  attacks: [],
  isCrowd: false,
  fromMs: 0,
  untilMs: 30_000,
  calls: 1_000,
  p99Ms: 10,
  worstP99Ms: 12,
  byKind: { collect: 8 },
  residentMb: 200,
  heldMs: 10,
  lagMs: 100,
  backAfterMs: 0,
  journalBytes: 0,
  reports: [],
};
const REPORT = { name: "many_keys", calls: 7, bytesSent: 1, answers: { "200 0": 5, "413 1413": 2 }, faults: [] };
const ATTACKED: Phase = { ...QUIET, name: "many_keys", attacks: ["many_keys"], worstP99Ms: 99, reports: [REPORT] };
const KEPT: Siege = {
  phases: [QUIET, ATTACKED],
  isApplied: true,
  faults: [],
  audit: {
    calls: 1_000,
    acknowledged: 990,
    events: 900,
    lost: [],
    doubled: [],
    foreign: [],
    refusals: {},
    minutesOff: 0,
    setAside: [],
  },
};

test("the names of attacks are unique, and each says what it does and what must hold", () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length);
  for (const { what, holds, point } of ATTACKS) for (const text of [what, holds, point]) expect(text).not.toBe("");
});

test("a slow moment of five seconds shows, however long the rest is fast", () => {
  const samples: Sample[] = Array.from({ length: 1_000 }, (_, index) => ({
    kind: "collect",
    atMs: index * 20,
    tookMs: index >= 250 && index < 270 ? 500 : 5,
  }));
  const range = { fromMs: 0, untilMs: 20_000 };
  expect(worstWindow(samples, range)).toBe(500);
  expect(p99Of(samples.filter(({ atMs }) => atMs < 5_000))).toBe(5);
  expect(worstWindow([], range)).toBe(0);
});

const broken = (siege: Siege) => holdsOf(siege).flatMap(({ what, isKept }) => (isKept ? [] : [what]));
const during = (change: Partial<Phase>): Siege => ({ ...KEPT, phases: [QUIET, { ...ATTACKED, ...change }] });

test("a siege in which everything held reports no failures", () => {
  expect(broken(KEPT)).toEqual([]);
});

test.each<[string, Siege]>([
  ["p99 of the ordinary clients, in every five seconds", during({ worstP99Ms: 100 })],
  ["resident memory of the server", during({ residentMb: 600 })],
  ["event loop held by requests", during({ heldMs: 51 })],
  ["apply lag back under a second after an attack's end", during({ backAfterMs: null })],
  ["acknowledged and not applied in the end", { ...KEPT, isApplied: false }],
  ["acknowledged and lost", { ...KEPT, audit: { ...KEPT.audit, lost: ["event s1"] } }],
  ["there twice", { ...KEPT, audit: { ...KEPT.audit, doubled: ["event s1"] } }],
  ["rows of the app that its clients never sent", { ...KEPT, audit: { ...KEPT.audit, foreign: ["user x"] } }],
  [
    "ordinary calls refused or left without an answer",
    { ...KEPT, audit: { ...KEPT.audit, refusals: { "collect: 503 5003": 1 } } },
  ],
  ["minutes of a ledger that do not add up", { ...KEPT, audit: { ...KEPT.audit, minutesOff: 1 } }],
  ["entries that were acknowledged and not understood", { ...KEPT, audit: { ...KEPT.audit, setAside: ["1 × x"] } }],
  ["many_keys", { ...KEPT, faults: [{ attack: "many_keys", text: "an answer is polluted" }] }],
])("a condition that did not hold is reported: %s", (what, siege) => {
  expect(broken(siege)).toEqual([what]);
});

test("a crowd may hold the event loop, and all attacks together may delay the clients", () => {
  expect(broken(during({ isCrowd: true, heldMs: 51 }))).toEqual([]);
  const together = { isCrowd: true, attacks: ["many_keys", "fuzz"], worstP99Ms: 100, heldMs: 51 };
  expect(broken(during(together))).toEqual([]);
  expect(broken(during({ ...together, residentMb: 600 }))).toEqual(["resident memory of the server"]);
});

test("the figures go between their marks, and nothing else on the page changes", () => {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-page-"));
  const file = join(folder, "page.md");
  const page = readFileSync(new URL("../../docs/SECURITY.md", import.meta.url), "utf8");
  const [head, tail] = [page.split("<!-- figures:")[0]!, page.split("<!-- end of the figures -->")[1]!];
  writeFileSync(file, page);
  const made = { date: "2026-11-15", commit: "abc1234", machine: "2 cores, 24 GiB" };
  const run = { siege: during({ worstP99Ms: 100 }), attacks: ATTACKS, made, command: "npm run attack -- --minutes 5" };
  try {
    writeFigures(file, run);
    writeFigures(file, run);
    const text = readFileSync(file, "utf8");
    expect(text.startsWith(head)).toBe(true);
    expect(text.endsWith(tail)).toBe(true);
    expect(text).toContain("Made on 2026-11-15 at commit abc1234, on 2 cores, 24 GiB.");
    expect(text).toContain("1 of 11 did not hold.");
    expect(text.match(/\| many_keys /g)).toHaveLength(1);
    expect(text).toContain("5 × 200 0, 2 × 413 1413");
    writeFileSync(file, "# A page without marks");
    expect(() => writeFigures(file, run)).toThrow("no place for the figures");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
