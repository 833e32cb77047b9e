/** How a connection is encrypted. The modes have the meaning that libpq gives them, not node-postgres'; see tls.ts. */
export const TLS_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;
export type TlsMode = (typeof TLS_MODES)[number];

export type Tls = {
  mode: TlsMode;
  /** Paths of PEM files; empty when not given. `rootCert` may be "system": the authorities that Node trusts. */
  rootCert: string;
  cert: string;
  key: string;
  keyPassword: string;
};

/** Which of several servers to use. Ours must be one that can be written to, so the modes for standbys are refused. */
export const SESSION_ATTRS = ["any", "read-write", "primary"] as const;
export type SessionAttrs = (typeof SESSION_ATTRS)[number];

export type Host = { host: string; port: number };

/** A parameter of PostgreSQL and its value. */
export type Parameter = readonly [name: string, value: string];

/** A database's address as a URL in libpq's form gives it. */
export type Address = {
  hosts: readonly Host[];
  /** Undefined: the driver takes PGUSER, PGPASSWORD and PGDATABASE, as libpq does. */
  user: string | undefined;
  password: string | undefined;
  database: string | undefined;
  tls: Tls;
  attrs: SessionAttrs;
  parameters: readonly Parameter[];
  /** How long one host may take; undefined: an even share of the caller's time. */
  hostMs: number | undefined;
};

const PORT = 5432;
const URL_FORM = /^postgres(?:ql)?:\/\/(?<authority>[^/?#]*)(?:\/(?<database>[^?#]*))?(?:\?(?<query>[^#]*))?$/;

/** What `sslmode` and the like are called in the query, and what else is understood there. */
const NAMES: ReadonlySet<string> = new Set([
  ...["host", "port", "dbname", "user", "password", "options", "connect_timeout", "target_session_attrs"],
  ...["ssl", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword"],
]);
/** Accepted and ignored: names of ours count, and the rest changes nothing here. */
const IGNORED: ReadonlySet<string> = new Set([
  ...["application_name", "fallback_application_name", "client_encoding", "gssencmode", "uselibpqcompat"],
  ...["keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout"],
]);

/** Reads a URL. Throws what is wrong with it, without quoting anything that may be a secret. */
export function readAddress(url: string): Address {
  const parts = URL_FORM.exec(url)?.groups;
  if (!parts) throw new Error("must have the form postgres://user:password@host:port/database?parameter=value.");
  const given = readQuery(parts.query ?? "");
  const at = parts.authority!.lastIndexOf("@");
  const [user, password] = at < 0 ? [] : splitOnce(parts.authority!.slice(0, at), ":");
  const hosts = readHosts(parts.authority!.slice(at + 1), given);
  return {
    hosts,
    user: given.get("user") ?? decoded(user),
    password: given.get("password") ?? decoded(password),
    database: given.get("dbname") ?? decoded(parts.database),
    tls: readTls(given),
    attrs: readAttrs(given, hosts),
    parameters: readOptions(given.get("options") ?? ""),
    hostMs: readTimeout(given.get("connect_timeout")),
  };
}

function readQuery(text: string): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  for (const part of text.split("&")) {
    if (part === "") continue;
    const [name, value = ""] = splitOnce(part, "=");
    const key = decoded(name)!;
    if (IGNORED.has(key)) continue;
    if (!NAMES.has(key)) throw new Error(unsupported(key, text));
    given.set(key, decoded(value) ?? "");
  }
  return given;
}

/** The rest of a password with a `?` in it is followed by an @ and the host, and must not be shown. */
function unsupported(key: string, query: string): string {
  return /^[a-z_]{1,40}$/.test(key) && !query.includes("@")
    ? `has the parameter ${key}, which is not supported.`
    : "has something after the ? that is no parameter; write a ? in a password as %3F.";
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** Undefined for what is absent or empty. */
function decoded(text: string | undefined): string | undefined {
  if (!text) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("has a % that does not begin an escape such as %25; write % itself as %25.");
  }
}

/** `host` and `port` of the query come before those of the authority; one port serves all hosts. */
function readHosts(authority: string, given: ReadonlyMap<string, string>): Host[] {
  const inUrl = authority.split(",").map(readHost);
  const names = given.get("host")?.split(",") ?? inUrl.map(({ host }) => host);
  const ports = given.get("port")?.split(",") ?? inUrl.map(({ port }) => port);
  if (ports.length !== 1 && ports.length !== names.length)
    throw new Error(`has ${names.length} hosts and ${ports.length} ports: give one port, or one for each host.`);
  return names.map((host, index) => ({
    host: host || "localhost",
    port: readPort(ports[ports.length === 1 ? 0 : index]!),
  }));
}

function readHost(text: string): { host: string; port: string } {
  const match = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<name>[^:[\]]*))(?::(?<port>\d*))?$/.exec(text)?.groups;
  if (!match)
    throw new Error("has a host that is not a name, an address, or [an IPv6 address], with or without :port.");
  return { host: match.v6 ?? decoded(match.name) ?? "", port: match.port ?? "" };
}

function readPort(text: string): number {
  if (text === "") return PORT;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) throw new Error("has a port that is not from 1 to 65535.");
  return port;
}

function readTls(given: ReadonlyMap<string, string>): Tls {
  const rootCert = given.get("sslrootcert") ?? "";
  const cert = given.get("sslcert") ?? "";
  const key = given.get("sslkey") ?? "";
  const usual = rootCert === "system" ? "verify-full" : given.get("ssl") === "true" ? "require" : "prefer";
  const mode = choice(TLS_MODES, "sslmode", given.get("sslmode") ?? usual);
  if (rootCert === "system" && mode !== "verify-full")
    throw new Error("has sslrootcert=system with a weaker sslmode: anybody can get a certificate; use verify-full.");
  if (rootCert === "" && mode.startsWith("verify-"))
    throw new Error(
      `has sslmode=${mode} without sslrootcert: name the file of the authority, or use verify-full with sslrootcert=system for the public authorities.`,
    );
  if ((cert === "") !== (key === "")) throw new Error("must have both sslcert and sslkey, or none of them.");
  return { mode, rootCert, cert, key, keyPassword: given.get("sslpassword") ?? "" };
}

/** With several hosts one of them is likely a standby, which is of no use to us. */
function readAttrs(given: ReadonlyMap<string, string>, hosts: readonly Host[]): SessionAttrs {
  const attrs = given.get("target_session_attrs") ?? (hosts.length > 1 ? "read-write" : "any");
  if (["read-only", "standby", "prefer-standby"].includes(attrs))
    throw new Error(`has target_session_attrs=${attrs}, but Touchpoint writes: use read-write or primary.`);
  return choice(SESSION_ATTRS, "target_session_attrs", attrs);
}

function choice<const T extends readonly string[]>(choices: T, name: string, text: string): T[number] {
  if (!choices.includes(text)) throw new Error(`has ${name}=${text}, which must be one of ${choices.join(", ")}.`);
  return text;
}

/** The parameters in `options`: `-c name=value` or `--name=value`, where a backslash keeps a space in a value. */
function readOptions(text: string): Parameter[] {
  return [...text.matchAll(/(?:-c\s+)?(?:\\.|[^\s\\])+/g)].map(([option]) => {
    const match = /^(?:-c\s*|--)(?<name>[a-zA-Z_][\w.-]*)=(?<value>.*)$/s.exec(option)?.groups;
    if (!match) throw new Error("has options in another form than -c name=value.");
    return [match.name!.replaceAll("-", "_"), match.value!.replace(/\\(.)/g, "$1")];
  });
}

/** In seconds; 0 means no limit, as in libpq. */
function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined || text === "0") return undefined;
  if (!/^\d{1,4}$/.test(text)) throw new Error("has a connect_timeout that is not a number of seconds.");
  return Number(text) * 1000;
}
