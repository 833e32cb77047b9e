import { networkInterfaces } from "node:os";
import type { App } from "./db/app.ts";
import { isLoopbackHost } from "./domain/network.ts";
import { SETTINGS } from "./settings.ts";
import { COMMAND } from "./version.ts";

/** The facts that the greeting shows. */
export type Started = {
  address: string;
  dataDir: string;
  /** The addresses at which other machines reach it; empty when they cannot. */
  reachedAt: readonly string[];
  /** Whether anyone can sign in to the console; if not, the one-time link when secrets may be shown. */
  admin: { kind: "there" } | { kind: "missing"; setupLink: string | undefined };
  /** The demo app, if this start has created it. */
  demo: App | undefined;
  /** What does not work because the database is away. */
  missing?: string | undefined;
  showsSecrets: boolean;
};

export function greeting(started: Started): string {
  const { address, dataDir, admin, demo, missing, showsSecrets, reachedAt } = started;
  return [
    `Touchpoint is ready at ${address} (console: ${address}/console/, API: ${address}/docs)`,
    ...(missing ? [missing] : []),
    ...(admin.kind === "missing" ? [wayIn(admin.setupLink, commandFor(dataDir))] : []),
    // Shown only until the first admin exists.
    ...(admin.kind === "missing" && reachedAt.length > 0 ? [whatIsOpen(reachedAt)] : []),
    ...(demo ? [showsSecrets ? demoLines(demo, address) : demoNote(demo, commandFor(dataDir))] : []),
  ].join("\n");
}

/** How to call the command line for this installation: a shell elsewhere does not have the server's settings. */
function commandFor(dataDir: string): string {
  const { read, fallback } = SETTINGS.DATA_DIR;
  if (dataDir === read(fallback)) return COMMAND;
  const inShell = /^[\w./-]+$/.test(dataDir) ? dataDir : `'${dataDir.replaceAll("'", `'\\''`)}'`;
  return `DATA_DIR=${inShell} ${COMMAND}`;
}

function wayIn(setupLink: string | undefined, command: string): string {
  return setupLink === undefined
    ? `\nNobody can sign in yet. Secrets are printed to a terminal only: \`${command} admin link\` prints the way in.`
    : `\nSet the admin password of the console (one use, within a day):\n  ${setupLink}`;
}

function whatIsOpen(reachedAt: readonly string[]): string {
  return `
Other machines reach it at ${reachedAt.join(", ")}:
  open to everybody     monitoring links, /docs, /openapi.json, /metrics, /progress, /healthz, /readyz
  by an access token    collection
  by a key and a sign   reports
  by a password         /console/ and, with the admin token too, /admin/api/v1
HOST=127.0.0.1 keeps it to this machine. It speaks plain HTTP: before it goes on the internet, see "Put it on the internet" in the README.`;
}

function demoNote({ appId }: App, command: string): string {
  return `\nA demo app is ready: ${appId}. \`${command} app list --keys\` shows its keys; DEMO_APP=off makes none.`;
}

function demoLines(app: App, address: string): string {
  const base = `${address}/event_center/api/v1`;
  const registration = `{"client_id":"player-1","name":"Player One","channel":"demo","version":1}`;
  const event = `{"client_id":"player-1","event_list":[{"type":"track","event":"$PayEvent","time":'$(date +%s000)',"properties":{"$pay_amount":600,"$pay_type":"CNY","$order_id":"order-1"}}]}`;
  return `
A demo app is ready:
  app_id        ${app.appId}
  access_token  ${app.accessToken}
  app_key       ${app.appKey}
  aes_key       ${app.aesKey}

Register a player, send a payment, look the player up:
  curl '${base}/user/register/?access_token=${app.accessToken}' -d '${registration}'
  curl '${base}/event/collect/?access_token=${app.accessToken}' -d '${event}'
  curl '${base}/user/get/?access_token=${app.accessToken}&client_id=player-1'
`;
}

const EVERY_ADDRESS = ["0.0.0.0", "::"];
const ADDRESSES_SHOWN = 3;

/** The addresses at which other machines reach a listener on `host`. */
export function outerAddressesOf(host: string, address: string, interfaces = networkInterfaces): string[] {
  if (isLoopbackHost(host)) return [];
  const { port } = new URL(address);
  const own = EVERY_ADDRESS.includes(host) ? machineAddresses(interfaces) : [host];
  return own.slice(0, ADDRESSES_SHOWN).map((one) => `http://${one.includes(":") ? `[${one}]` : one}:${port || 80}`);
}

/** The machine's outer addresses, or 0.0.0.0 when there is none yet: a network may still come up. */
function machineAddresses(interfaces: typeof networkInterfaces): string[] {
  const outer = Object.values(listed(interfaces))
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === "IPv4")
    .map(({ address }) => address);
  return outer.length > 0 ? outer : ["0.0.0.0"];
}

/** A sandbox may forbid the socket that lists them (AF_NETLINK). The greeting is no reason to end the start. */
function listed(interfaces: typeof networkInterfaces): ReturnType<typeof networkInterfaces> {
  try {
    return interfaces();
  } catch {
    return {};
  }
}
