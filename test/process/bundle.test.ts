import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Attempt, BUNDLE, CLI, environment, ROOT, START } from "./launch.ts";

const textOf = (path: string) => readFileSync(join(ROOT, path), "utf8");
const jsonOf = (path: string) => JSON.parse(textOf(path));

/** The files that scripts are loaded from; their names end with a digest. */
const bundled = readdirSync(BUNDLE).filter((name) => /-[\w-]{8}\.js$/.test(name));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "touchpoint-bundle-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  { how: "as a server", command: "sh", args: START.slice(0, 1) },
  { how: "as a command", command: process.execPath, args: [] },
])("a process that is started $how accepts the bytecode of every file", ({ command, args }) => {
  const script = `
    const { bytecodeOf, scriptOf } = require(${JSON.stringify(join(BUNDLE, "load.js"))});
    const names = ${JSON.stringify(bundled)};
    console.log(names.filter((name) => scriptOf(name, bytecodeOf(name)).cachedDataRejected === false).join(" "));`;
  const accepted = execFileSync(command, [...args, "-e", script], { encoding: "utf8" })
    .trim()
    .split(" ");
  expect(accepted).toEqual(bundled);
});

test("a bundle without bytecode, as another version of Node.js sees it, works all the same", async () => {
  cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
  cpSync(BUNDLE, join(folder, "dist/bundle"), {
    recursive: true,
    filter: (path) => !path.includes("compiled-"),
  });
  const cli = join(folder, "dist/bundle/cli.js");
  const attempt = new Attempt(process.execPath, [cli, "--version"], { env: environment({}) });
  expect(await attempt.ended(), attempt.stderr).toBe(0);
  expect(attempt.stdout.trim()).toBe(jsonOf("package.json").version);
});

test("a command that runs out of work before it is done does not look like a success", async () => {
  const unanswered = join(folder, "unanswered.cjs");
  writeFileSync(unanswered, "globalThis.fetch = () => new Promise(() => {});");
  const command = ["report", "users", "--app", "1", "--app-key", "x", "--url", "http://127.0.0.1:9"];
  const attempt = new Attempt(process.execPath, ["--require", unanswered, CLI, ...command], { env: environment({}) });
  expect(await attempt.ended()).toBe(13);
});

test("the packages in the console are named, for the audit and with their licences", () => {
  const named: string[] = jsonOf("dist/web/packages.json");
  const licences = textOf("dist/web/LICENSES.txt");
  for (const name of ["react", "react-dom", "@tanstack/react-query"]) {
    expect(named).toContain(`node_modules/${name}`);
    expect(licences).toContain(`${name} ${jsonOf(`node_modules/${name}/package.json`).version}\n\n`);
  }
});

test("the packages in the bundle are named, for the audit and with their licences", () => {
  const named: string[] = jsonOf("dist/bundle/packages.json");
  const beside = Object.keys(jsonOf("package.json").dependencies);
  const shipped = new Set([...named.map((path) => path.replace(/^.*node_modules\//, "")), ...beside]);
  expect(importedPackages().filter((name) => !shipped.has(name))).toEqual([]);
  const licences = textOf("dist/bundle/LICENSES.txt");
  for (const name of ["fastify", "pg", "typebox"]) {
    const { version } = jsonOf(`node_modules/${name}/package.json`);
    expect(licences).toContain(`${name} ${version}\n\n`);
  }
});

/** Every package that a module of the server imports, types aside. */
function importedPackages(): string[] {
  const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
  const names = files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [...textOf(join("src", file)).matchAll(/^(?:import|export) (?!type ).* from "([^.][^"]*)"/gm)])
    .map(([, id]) => id!)
    .filter((id) => !id.startsWith("node:"))
    .map((id) => id.split("/", id.startsWith("@") ? 2 : 1).join("/"));
  expect(names.length).toBeGreaterThan(5);
  return [...new Set(names)];
}
