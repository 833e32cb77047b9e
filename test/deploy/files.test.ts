import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { readConfig } from "../../src/config.ts";
import { LIMITS, MIB } from "../../src/limits.ts";
import { SETTINGS } from "../../src/settings.ts";

const file = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const { version } = JSON.parse(file("package.json")) as { version: string };

/** Variables that are not Touchpoint's own. */
const FOREIGN = ["NODE_ENV", "POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD"];
const unknownAmong = (names: readonly string[]) => names.filter((name) => !FOREIGN.includes(name) && !isSetting(name));
const isSetting = (name: string) => Object.hasOwn(SETTINGS, name);

type Service = {
  environment?: Record<string, string>;
  image?: string;
  build?: string;
  profiles?: string[];
  shm_size?: string;
};
type Container = {
  image: string;
  env: { name: string; value: string }[];
  ports: { containerPort: number }[];
  startupProbe: { periodSeconds: number; failureThreshold: number };
  volumeMounts: { name: string; mountPath: string }[];
};
type Pod = { containers: Container[]; volumes: { name: string; emptyDir: object }[] };
type Resource = { kind: string; spec?: { template?: { spec: Pod }; replicas?: number } };

const compose = parse(file("compose.yaml"), { merge: true }) as { services: Record<string, Service> };
const kubernetes = parseAllDocuments(file("deploy/kubernetes/touchpoint.yaml")).map((one) => one.toJS() as Resource);
const pod = kubernetes.find(({ kind }) => kind === "StatefulSet")!.spec!.template!.spec;
const [container] = pod.containers;
const assigned = (text: string) => [...text.matchAll(/\b([A-Z][A-Z_]+)=/g)].map(([, name]) => name!);

test("the image, the composition, the unit and the manifests set only settings that exist", () => {
  const image = /^ENV (.+)$/m.exec(file("Dockerfile"))![1]!;
  const unit = [...file("deploy/systemd/touchpoint.service").matchAll(/^Environment=(.+)$/gm)].map(([, text]) => text!);
  expect(unknownAmong(assigned(image))).toEqual([]);
  expect(unknownAmong(assigned(unit.join(" ")))).toEqual([]);
  for (const { environment = {} } of Object.values(compose.services))
    expect(unknownAmong(Object.keys(environment))).toEqual([]);
  expect(unknownAmong(container!.env.map(({ name }) => name))).toEqual([]);
  expect(unknownAmong(["DATA_DIRECTORY"])).toEqual(["DATA_DIRECTORY"]);
});

test("the unit lets the server list the machine's addresses", () => {
  const [, families] = /^RestrictAddressFamilies=(.+)$/m.exec(file("deploy/systemd/touchpoint.service"))!;
  expect(families!.split(" ")).toEqual(expect.arrayContaining(["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"]));
});

test("a service in the composition has its database, and both forms are offered", () => {
  const { touchpoint, postgres, "touchpoint-external": external } = compose.services;
  expect(touchpoint).toMatchObject({ build: "." });
  expect(touchpoint!.profiles).toBeUndefined();
  const url = external!.environment!.DATABASE_URL!.replace(/\$\{[^}]*\}/, "secret");
  expect(readConfig({ DATABASE_URL: url }).databaseUrl).toBe(url);
  expect(postgres!.environment).toMatchObject({ POSTGRES_USER: "touchpoint", POSTGRES_DB: "touchpoint" });
});

test("the manifests run one pod of this version on the port of the image", () => {
  expect(container!.image).toBe(`touchpoint:${version}`);
  expect(container!.ports).toMatchObject([{ containerPort: Number(/PORT=(\d+)/.exec(file("Dockerfile"))![1]) }]);
  expect(kubernetes.find(({ kind }) => kind === "StatefulSet")!.spec).toMatchObject({ replicas: 1 });
});

test("the embedded database has more shared memory than a container gets by itself", () => {
  const { touchpoint, "touchpoint-external": external } = compose.services;
  expect([touchpoint!.shm_size, external!.shm_size]).toEqual(["256mb", undefined]);
  const { name } = container!.volumeMounts.find(({ mountPath }) => mountPath === "/dev/shm")!;
  const volume = pod.volumes.find((one) => one.name === name);
  expect(volume).toMatchObject({ emptyDir: { medium: "Memory", sizeLimit: "256Mi" } });
});

test("a start in Kubernetes has an hour for its migrations", () => {
  const { periodSeconds, failureThreshold } = container!.startupProbe;
  expect(periodSeconds * failureThreshold).toBe(3_600);
});

test("the proxies let through bodies as large as the server takes", () => {
  const { bodyBytesMax } = readConfig({});
  const nginx = [...file("deploy/nginx/touchpoint.conf").matchAll(/client_max_body_size (\d+)m/g)];
  const caddy = [...file("deploy/caddy/Caddyfile").matchAll(/max_size (\d+)MiB/g)];
  expect(nginx.map(([, mib]) => Number(mib) * MIB)).toEqual([bodyBytesMax, LIMITS.fileBytes]);
  expect(caddy.map(([, mib]) => Number(mib) * MIB)).toEqual([LIMITS.fileBytes, bodyBytesMax]);
});
