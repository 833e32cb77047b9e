import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { afterAll, expect, test } from "vitest";
import { readJetStreamAddress } from "../../../src/journal/jetstream/address.ts";
import { JetStreamLog } from "../../../src/journal/jetstream/jetstream-log.ts";
import { MIB } from "../../../src/limits.ts";
import { createLog } from "../../../src/log.ts";
import { makeAuthority } from "../../support/certificate.ts";
import { eventually } from "../../support/patience.ts";
import { entryOf } from "../temp-journal.ts";
import { Nats } from "./nats.ts";

const folder = mkdtempSync(join(tmpdir(), "touchpoint-login-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function withServer(settings: string, work: (host: string) => Promise<void>): Promise<void> {
  const nats = await Nats.start(1, { settings });
  try {
    await work(nats.servers[0]!);
  } finally {
    await nats.stop();
  }
}

/** Opens the log at a URL, and appends an entry. */
async function use(url: string): Promise<number> {
  const address = readJetStreamAddress(`${url}${url.includes("?") ? "&" : "?"}replicas=1&partitions=1&mib=64`);
  const options = { address, entryBytesMax: MIB, pendingBytesMax: MIB, log: createLog("silent") };
  const log = await JetStreamLog.open(options);
  try {
    return await log.append(entryOf("one"));
  } finally {
    await log.close();
  }
}

/** Once the server takes the right login; `wrong` ones are refused by the same server. */
async function expectLogin(right: string, wrong: readonly [url: string, reason: RegExp][]): Promise<void> {
  expect(await eventually(() => use(right))).toBeGreaterThan(0);
  for (const [url, reason] of wrong) await expect(use(url), url).rejects.toThrow(reason);
}

test("a user and its password open the log, and others do not", () =>
  withServer(`authorization { user: "touch", password: "p@ss:word" }`, (host) =>
    expectLogin(`nats://touch:p%40ss%3Aword@${host}`, [
      [`nats://touch:wrong@${host}`, /authorization/i],
      [`nats://${host}`, /authorization/i],
    ]),
  ));

test("a token opens the log, and others do not", () =>
  withServer(`authorization { token: "s3cret" }`, (host) =>
    expectLogin(`nats://s3cret@${host}`, [[`nats://other@${host}`, /authorization/i]]),
  ));

test("over TLS the server's certificate is checked, and ours is shown where the server wants one", async () => {
  const authority = makeAuthority("log authority");
  const stranger = makeAuthority("another authority");
  const server = authority.issue("localhost", ["127.0.0.1"]);
  const client = authority.issue("touchpoint");
  const foreign = stranger.issue("touchpoint");
  const ca = fileOf("ca.pem", authority.cert);
  const pairOf = (name: string, { cert, key }: { cert: string; key: string }) =>
    `cert=${fileOf(`${name}.pem`, cert)}&key=${fileOf(`${name}.key`, key)}`;
  pairOf("server", server);
  const tls = (more: string) =>
    `tls { cert_file: "${join(folder, "server.pem")}", key_file: "${join(folder, "server.key")}", timeout = 30 ${more} }`;
  await withServer(tls(""), (host) =>
    expectLogin(`tls://${host}?ca=${ca}`, [
      [`tls://${host}?ca=${fileOf("stranger.pem", stranger.cert)}`, /certificate/],
      [`tls://${host}`, /certificate/],
    ]),
  );
  await withServer(tls(`, verify: true, ca_file: "${ca}"`), (host) =>
    expectLogin(`tls://${host}?ca=${ca}&${pairOf("client", client)}`, [
      [`tls://${host}?ca=${ca}`, /./],
      [`tls://${host}?ca=${ca}&${pairOf("foreign", foreign)}`, /./],
    ]),
  );
});

test("a credentials file opens the log of its account", async () => {
  const [operator, account, user, stranger] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createUser(),
    nkeys.createAccount(),
  ];
  const limits = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const accountToken = tokenOf(operator, account, { type: "account", limits: { ...limits, ...storage } });
  const system = nkeys.createAccount();
  const systemToken = tokenOf(operator, system, { type: "account", limits });
  const settings = `operator: ${tokenOf(operator, operator, { type: "operator" })}
    system_account: ${system.getPublicKey()}
    resolver: MEMORY
    resolver_preload: { ${account.getPublicKey()}: ${accountToken}, ${system.getPublicKey()}: ${systemToken} }`;
  const permissions = { pub: {}, sub: {}, subs: -1, data: -1, payload: -1 };
  const credsOf = (name: string, issuer: nkeys.KeyPair) =>
    fileOf(
      name,
      `-----BEGIN NATS USER JWT-----\n${tokenOf(issuer, user, { type: "user", ...permissions })}\n------END NATS USER JWT------\n
-----BEGIN USER NKEY SEED-----\n${Buffer.from(user.getSeed()).toString()}\n------END USER NKEY SEED------\n`,
    );
  await withServer(settings, (host) =>
    expectLogin(`nats://${host}?creds=${credsOf("user.creds", account)}`, [
      [`nats://${host}?creds=${credsOf("stranger.creds", stranger)}`, /authorization/i],
      [`nats://${host}`, /authorization/i],
    ]),
  );
});

/** A JWT as the tools of NATS make them. */
function tokenOf(issuer: nkeys.KeyPair, subject: nkeys.KeyPair, claims: Record<string, unknown>): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const body = {
    jti: subject.getPublicKey(),
    iat: 1_700_000_000,
    iss: issuer.getPublicKey(),
    name: "test",
    sub: subject.getPublicKey(),
    nats: { ...claims, version: 2 },
  };
  const text = `${part({ typ: "JWT", alg: "ed25519-nkey" })}.${part(body)}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString("base64url")}`;
}
