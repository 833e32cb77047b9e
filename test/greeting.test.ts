import { resolve } from "node:path";
import { expect, test } from "vitest";
import { greeting, outerAddressesOf, type Started } from "../src/greeting.ts";

const READY: Started = {
  address: "http://127.0.0.1:8080",
  dataDir: resolve("data"),
  reachedAt: [],
  admin: { kind: "there" },
  demo: undefined,
  showsSecrets: false,
};

test("an installation that is set up only prints its address", () => {
  expect(greeting({ ...READY, reachedAt: ["http://10.0.0.5:8080"] }).split("\n")).toHaveLength(1);
});

test("the first start says what other machines can reach, and how to prevent that", () => {
  const said = greeting({
    ...READY,
    admin: { kind: "missing", setupLink: "http://127.0.0.1:8080/console/setup#secret" },
    reachedAt: ["http://10.0.0.5:8080"],
  });
  for (const words of [
    "setup#secret",
    "http://10.0.0.5:8080",
    ...["monitoring links", "/docs", "/metrics", "collection", "reports", "/console/", "/admin/api/v1"],
    ...["HOST=127.0.0.1", "Put it on the internet"],
  ]) {
    expect(said).toContain(words);
  }
});

test.each([
  [resolve("data"), "npm run -s cli -- admin link"],
  ["/var/lib/touchpoint", "DATA_DIR=/var/lib/touchpoint npm run -s cli -- admin link"],
  ["/srv/Ann's data", "DATA_DIR='/srv/Ann'\\''s data' npm run -s cli -- admin link"],
])("a server on %s names the command that finds its folder", (dataDir, command) => {
  const said = greeting({ ...READY, dataDir, admin: { kind: "missing", setupLink: undefined } });
  expect(said).toContain(`\`${command}\` prints the way in`);
});

test.each([
  ["127.0.0.1", []],
  ["localhost", []],
  ["::1", []],
  ["10.0.0.5", ["http://10.0.0.5:8080"]],
  ["2001:db8::5", ["http://[2001:db8::5]:8080"]],
])("a server that listens on %s is reached by other machines at %j", (host, reached) => {
  expect(outerAddressesOf(host, "http://127.0.0.1:8080")).toEqual(reached);
});

test("a server that listens everywhere is reached at the machine's own addresses", () => {
  const reached = outerAddressesOf("0.0.0.0", "http://127.0.0.1:8080");
  expect(reached.length).toBeGreaterThan(0);
  for (const address of reached) expect(address).toMatch(/^http:\/\/(?!127\.)[\d.]+:8080$/);
});

test("a server in a sandbox that may not list its addresses says that it listens everywhere", () => {
  const forbidden = () => {
    throw new Error("uv_interface_addresses returned Unknown system error 97");
  };
  expect(outerAddressesOf("0.0.0.0", "http://127.0.0.1:8080", forbidden)).toEqual(["http://0.0.0.0:8080"]);
});
