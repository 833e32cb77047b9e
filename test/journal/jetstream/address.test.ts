import { expect, test } from "vitest";
import { readJetStreamAddress } from "../../../src/journal/jetstream/address.ts";
import { GIB, MIB } from "../../../src/limits.ts";

const DEFAULTS = { name: "touchpoint", partitions: 8, replicas: 3, bytesMax: 4 * GIB };

test.each([
  ["nats://a", { servers: ["a"], ...DEFAULTS }],
  ["nats://a:4222,b.example:4223,[::1]:4222", { servers: ["a:4222", "b.example:4223", "[::1]:4222"], ...DEFAULTS }],
  ["nats://u:p%40ss@a/games", { servers: ["a"], user: "u", password: "p@ss", ...DEFAULTS, name: "games" }],
  ["nats://t0ken@a", { servers: ["a"], token: "t0ken", ...DEFAULTS }],
  ["tls://a", { servers: ["a"], tls: {}, ...DEFAULTS }],
  [
    "tls://a?ca=/ca.pem&cert=/c.pem&key=/k.pem&creds=/x.creds",
    { servers: ["a"], tls: { ca: "/ca.pem", cert: "/c.pem", key: "/k.pem" }, creds: "/x.creds", ...DEFAULTS },
  ],
  ["nats://a?versions=any", { servers: ["a"], ...DEFAULTS, versions: "any" }],
  [
    "nats://a/x?replicas=1&partitions=16&mib=64",
    { servers: ["a"], name: "x", replicas: 1, partitions: 16, bytesMax: 64 * MIB },
  ],
])("%s is read", (url, address) => {
  expect(readJetStreamAddress(url)).toEqual(address);
});

test.each([
  ["http://a", /must have the form/],
  ["nats://", /must have the form/],
  ["nats://u:secret@a,b c", /no usable address in "b c"/],
  ["nats://a/x.y", /must name the log/],
  ["nats://a?replicas=2", /1, 3 or 5 for replicas/],
  ["nats://a?partitions=0", /from 1 to 256 for partitions/],
  ["nats://a?mib=x", /for mib/],
  ["nats://a?versions=2.9", /must have any for versions/],
  ["nats://a?sync=always", /does not understand "sync"/],
])("%s is refused", (url, message) => {
  expect(() => readJetStreamAddress(url)).toThrow(message);
  expect(() => readJetStreamAddress(url)).not.toThrow(/secret/);
});
