import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { NATS_PLACES } from "../../sim/chaos/nodes/nats-servers.ts";
import { readConfig } from "../../src/config.ts";
import { ROLES, SETTINGS } from "../../src/settings.ts";

const file = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const { version } = JSON.parse(file("package.json")) as { version: string };

type Service = { environment?: Record<string, string>; build?: string };
type Container = { name: string; image: string; env?: { name: string; value: string }[] };
type Resource = {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: { replicas?: number; template?: { spec: { containers: Container[] } } };
};

const compose = parse(file("compose.cluster.yaml"), { merge: true }) as { services: Record<string, Service> };
const kubernetes = parseAllDocuments(file("deploy/kubernetes/touchpoint-cluster.yaml")).map(
  (one) => one.toJS() as Resource,
);
const resource = (kind: string, name: string) =>
  kubernetes.find((one) => one.kind === kind && one.metadata.name === name)!;

/** The settings of every node, with something in the place of secrets. */
const nodes = [
  ...Object.values(compose.services)
    .filter(({ build }) => build === ".")
    .map(({ environment = {} }) => environment),
  ...["touchpoint-http", "touchpoint-apply"].map((name) => {
    const [container] = resource("Deployment", name).spec!.template!.spec.containers;
    const own = Object.fromEntries(container!.env!.map((one) => [one.name, one.value]));
    return { ...resource("ConfigMap", "touchpoint").data, ...own };
  }),
].map((settings) =>
  Object.fromEntries(
    Object.entries(settings as Record<string, string>).map(([name, value]) => [
      name,
      value
        .replace(/\$\{SECRET_KEY[^}]*\}/, "0".repeat(64))
        .replace(/\$\{\w+:-\}/, "")
        .replace(/\$\{[^}]*\}/, "secret"),
    ]),
  ),
);

test("every node has settings that exist, the same log, and together they have all roles", () => {
  expect(nodes).toHaveLength(6);
  expect(nodes.flatMap((settings) => Object.keys(settings).filter((name) => !Object.hasOwn(SETTINGS, name)))).toEqual(
    [],
  );
  for (const settings of [nodes.slice(0, 4), nodes.slice(4)]) {
    const configs = settings.map((one) => readConfig(one));
    expect(new Set(configs.map(({ jetstream }) => JSON.stringify(jetstream))).size).toBe(1);
    expect(configs[0]!.jetstream).toMatchObject({ replicas: 3, partitions: 8 });
    expect(new Set(configs.flatMap(({ roles }) => [...roles]))).toEqual(new Set(ROLES));
    for (const role of ["http", "apply"] as const)
      expect(configs.some(({ roles }) => roles.has(role) && !roles.has(role === "http" ? "apply" : "http"))).toBe(true);
  }
});

test("the manifests run two nodes of each kind, three nats-servers, and this version", () => {
  const replicas = (kind: string, name: string) => resource(kind, name).spec!.replicas;
  expect(["touchpoint-http", "touchpoint-apply"].map((name) => replicas("Deployment", name))).toEqual([2, 2]);
  expect(["nats", "postgres"].map((name) => replicas("StatefulSet", name))).toEqual([3, 1]);
  const images = kubernetes.flatMap(({ spec }) => spec?.template?.spec.containers.map(({ image }) => image) ?? []);
  expect(images.filter((image) => image.startsWith("touchpoint"))).toEqual([1, 2].map(() => `touchpoint:${version}`));
});

test("the nats-server takes the settings, which are the same in both places", () => {
  const plain = (text: string) =>
    text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "" && !line.startsWith("#"))
      .join("\n");
  const own = plain(file("deploy/nats/touchpoint.conf"));
  const inKubernetes = plain(resource("ConfigMap", "nats").data!["touchpoint.conf"]!);
  expect(inKubernetes.replaceAll(/nats-(\d)\.nats/g, (_, number) => `nats-${Number(number) + 1}`)).toBe(own);
  const dir = mkdtempSync(join(tmpdir(), "touchpoint-nats-"));
  try {
    const binary = NATS_PLACES.find((path) => existsSync(path))!;
    // Where only Debian 12's is to be had, which such a log refuses anyway.
    const isOld = /v2\.[0-9]\./.test(execFileSync(binary, ["--version"], { encoding: "utf8" }));
    const known = isOld ? own.replace("sync_interval: always\n", "") : own;
    writeFileSync(join(dir, "nats.conf"), known.replace("store_dir: /data", `store_dir: "${dir}"`));
    execFileSync(binary, ["-t", "-c", join(dir, "nats.conf")], { stdio: "pipe" });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
