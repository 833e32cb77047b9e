import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { sharedServer } from "../support/shared-server.ts";

const server = sharedServer();
const file = (path: string) => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), "utf8");
const ALERTS = file("prometheus/touchpoint-alerts.yml");
const DASHBOARD = file("grafana/touchpoint-dashboard.json");

type Rule = {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string };
};
type Panel = { title: string; gridPos: { x: number; y: number; w: number; h: number }; targets: { expr: string }[] };

const rules = (parse(ALERTS) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(DASHBOARD) as { panels: Panel[] };

/** The metrics that a text names; those of a histogram by its own name. */
const namedIn = (text: string) =>
  new Set([...text.matchAll(/\btouchpoint_[a-z_]+/g)].map(([name]) => name.replace(/_(?:bucket|sum|count)$/, "")));

async function existing(): Promise<Set<string>> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!));
}

test("alerts and dashboard name only metrics that exist, and the dashboard shows every one", async () => {
  const exists = await existing();
  const inAlerts = rules.flatMap(({ expr }) => [...namedIn(expr)]);
  const inPanels = new Set(panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => [...namedIn(expr)])));
  expect(inAlerts.filter((name) => !exists.has(name))).toEqual([]);
  expect([...inPanels].filter((name) => !exists.has(name))).toEqual([]);
  expect([...exists].filter((name) => !inPanels.has(name))).toEqual([]);
});

test("every alert has a name of its own, a severity and a sentence", () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, labels, annotations } of rules) {
    expect(alert).toMatch(/^Touchpoint[A-Z]\w+$/);
    expect(labels.severity).toMatch(/^(page|ticket)$/);
    expect(annotations.summary).toMatch(/[.;]$/);
  }
});

test("docs/OPERATIONS.md says what to do about every alert", () => {
  const table = /^\| Alert \|[\s\S]+?\n\n/m.exec(file("../docs/OPERATIONS.md"))![0];
  const covered = [...table.matchAll(/^\| ([A-Z][\w, ]+) \| /gm)].flatMap(([, names]) => names!.split(", ")).slice(1);
  expect(covered.map((name) => `Touchpoint${name}`).sort()).toEqual(rules.map(({ alert }) => alert).sort());
});

test("the files name the scrape job for which the Down alert asks", () => {
  const [, job] = /job="(\w+)"/.exec(rules.find(({ alert }) => alert === "TouchpointDown")!.expr)!;
  for (const path of ["prometheus/touchpoint-alerts.yml", "kubernetes/touchpoint.yaml"])
    expect(file(path).replaceAll("\n# ", " ")).toMatch(new RegExp(`job (?:must be )?named \`${job}\``));
  expect(file("../docs/OPERATIONS.md")).toContain(`job_name: ${job}\n`);
});

test("the panels of the dashboard do not overlap", () => {
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(panels.every(({ gridPos }) => gridPos.x + gridPos.w <= 24)).toBe(true);
});
