import { KIB } from "../../limits.ts";

/** Where a log in JetStream is, and what its streams are like: the content of LOG_URL, as plain data. */
export type JetStreamAddress = {
  servers: readonly string[];
  user?: string;
  password?: string;
  token?: string;
  /** Paths of PEM files, each optional; undefined: without TLS, unless the servers ask for it. */
  tls?: { ca?: string; cert?: string; key?: string };
  /** The path of a credentials file. */
  creds?: string;
  /** The beginning of the names of streams and subjects. */
  name: string;
  /** For a new log. An existing one keeps its number: with another one, apps would change their partitions. */
  partitions: number;
  replicas: number;
  /** The most bytes of one partition. Above it, entries are refused. */
  bytesMax: number;
  /** Also nats-servers whose replicas are known to disagree, for trials; undefined: only those that keep the promise. */
  versions?: "any";
};

const FORM =
  /^(?<scheme>nats|tls):\/\/(?:(?<login>[^@/?#]*)@)?(?<hosts>[^@/?#]+)(?:\/(?<name>[^?#]*))?(?:\?(?<query>[^#]*))?$/;
const HOST = /^(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?$/;
const DEFAULTS = { name: "touchpoint", partitions: 8, replicas: 3, mib: 4_096 } as const;
const FILES = ["ca", "cert", "key", "creds"] as const;
const NUMBERS = ["partitions", "replicas", "mib"] as const;
const KEYS: readonly string[] = [...NUMBERS, ...FILES, "versions"];

/** Reads nats://user:password@host:port,host:port/name?replicas=3. Throws what is wrong, without quoting a secret. */
export function readJetStreamAddress(url: string): JetStreamAddress {
  const { scheme, login, hosts = "", name = "", query = "" } = FORM.exec(url)?.groups ?? {};
  if (scheme === undefined) throw new Error("must have the form nats://user:password@host:port,host:port/name.");
  const servers = hosts.split(",");
  const wrong = servers.find((server) => !HOST.test(server));
  if (wrong !== undefined) throw new Error(`has no usable address in ${JSON.stringify(wrong)}.`);
  const given = new URLSearchParams(query);
  for (const key of given.keys()) {
    if (!KEYS.includes(key))
      throw new Error(`does not understand ${JSON.stringify(key)}; it knows ${KEYS.join(", ")}.`);
  }
  if (!/^[\w-]*$/.test(name)) throw new Error("must name the log with letters, digits, _ and - alone.");
  const { ca, cert, key, creds } = filesOf(given);
  const hasFiles = ca !== undefined || cert !== undefined || key !== undefined;
  return {
    servers,
    ...loginOf(login),
    ...((scheme === "tls" || hasFiles) && { tls: { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) } }),
    ...(creds && { creds }),
    name: name || DEFAULTS.name,
    partitions: numberOf(given, "partitions", 256),
    replicas: replicasOf(given),
    bytesMax: numberOf(given, "mib", 16 * KIB * KIB) * KIB * KIB,
    ...versionsOf(given),
  };
}

function loginOf(login: string | undefined): Pick<JetStreamAddress, "user" | "password" | "token"> {
  if (login === undefined || login === "") return {};
  const [user = "", password] = login.split(":").map(decodeURIComponent);
  return password === undefined ? { token: user } : { user, password };
}

function filesOf(given: URLSearchParams): Partial<Record<(typeof FILES)[number], string>> {
  return Object.fromEntries(FILES.flatMap((name) => (given.get(name) ? [[name, given.get(name)]] : [])));
}

function numberOf(given: URLSearchParams, name: (typeof NUMBERS)[number], max: number): number {
  const text = given.get(name) ?? String(DEFAULTS[name]);
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > max)
    throw new Error(`must have a whole number from 1 to ${max} for ${name}.`);
  return number;
}

function replicasOf(given: URLSearchParams): number {
  const replicas = numberOf(given, "replicas", 5);
  // An even number survives no more losses than the odd one before it.
  if (replicas % 2 === 0) throw new Error("must have 1, 3 or 5 for replicas.");
  return replicas;
}

function versionsOf(given: URLSearchParams): Pick<JetStreamAddress, "versions"> {
  const versions = given.get("versions");
  if (versions === null) return {};
  if (versions === "any") return { versions };
  throw new Error("must have any for versions, or not name it.");
}
