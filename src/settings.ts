import { resolve } from "node:path";
import { ROLES as PERSON_ROLES } from "./domain/access/role.ts";
import { GIB, KIB, LIMITS, MIB } from "./limits.ts";
import {
  addresses,
  bucketUrl,
  bytes,
  databaseUrl,
  groupRoles,
  hours,
  httpUrl,
  intakeThreads,
  integer,
  issuerUrl,
  listed,
  logUrl,
  milliseconds,
  nonEmpty,
  oidcScopes,
  oneOf,
  passphrase,
  replicaUrl,
  secretKey,
} from "./setting-reader.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const ROLES = ["http", "apply", "refresh", "postback", "cost", "lake"] as const;
export type Role = (typeof ROLES)[number];

type Setting<T> = { fallback: string; read: (text: string) => T; hint: string };

/** The settings, their defaults and what each accepts. The table in the README is checked against this one. */
export const SETTINGS = {
  PORT: { fallback: "8080", read: integer(0, 65_535), hint: "TCP port; 0 picks a free one" },
  HOST: { fallback: "0.0.0.0", read: nonEmpty, hint: "address to listen on" },
  DATA_DIR: {
    fallback: "./data",
    read: (text: string) => resolve(nonEmpty(text)),
    hint: "folder for the journal and the embedded database",
  },
  DATABASE_URL: {
    fallback: "",
    read: databaseUrl,
    hint: "postgres://… of an external PostgreSQL 15 or newer; empty: the embedded one",
  },
  DATABASE_DIRECT_URL: {
    fallback: "",
    read: databaseUrl,
    hint: "the same database without a pooler, when DATABASE_URL leads to a pooler in transaction mode",
  },
  DATABASE_CONNECTIONS_MAX: {
    fallback: "8",
    read: integer(2, 500),
    hint: "connections of the HTTP side to the database",
  },
  REPORT_DATABASE_URL: {
    fallback: "",
    read: replicaUrl,
    hint: "a read replica of DATABASE_URL, for reports, lists and the console's pages; the primary serves while it is away",
  },
  LOG_LEVEL: { fallback: "info", read: oneOf(LOG_LEVELS), hint: LOG_LEVELS.join(", ") },
  ROLES: { fallback: ROLES.join(","), read: roles, hint: `comma-separated, out of ${ROLES.join(", ")}` },
  TRUSTED_PROXIES: {
    fallback: "",
    read: addresses,
    hint: "comma-separated addresses or networks whose X-Forwarded-For is trusted",
  },
  BODY_BYTES_MAX: {
    fallback: "2MiB",
    read: bytes(1 * KIB, 64 * MIB),
    hint: "largest body of event collect on the wire",
  },
  BODY_UNPACKED_BYTES_MAX: {
    fallback: "16MiB",
    read: bytes(1 * KIB, LIMITS.bodyUnpackedBytes),
    hint: "the same after unpacking",
  },
  BODIES_IN_FLIGHT_BYTES_MAX: {
    fallback: "32MiB",
    read: bytes(4 * KIB, 64 * GIB),
    hint: "bodies being received or answered, over all connections; above half of it, an address or app with more than an even share is refused",
  },
  APP_ENTRIES_PER_S: {
    fallback: "50000",
    read: integer(1, 1_000_000_000),
    hint: "calls with a token that an app may make per second in the long run",
  },
  APP_BYTES_PER_S: {
    fallback: "64MiB",
    read: bytes(1, 1_024 * GIB),
    hint: "the same in bytes of unpacked bodies",
  },
  ADDRESS_ENTRIES_PER_S: {
    fallback: "50000",
    read: integer(1, 1_000_000_000),
    hint: "link calls that an address may make per second in the long run",
  },
  ADDRESS_BYTES_PER_S: { fallback: "32MiB", read: bytes(1, 1_024 * GIB), hint: "the same in bytes" },
  REQUEST_TIMEOUT_S: { fallback: "30", read: integer(1, 600), hint: "time within which a request must arrive" },
  CONNECTIONS_MAX: { fallback: "20000", read: integer(1, 1_000_000), hint: "open HTTP connections" },
  INTAKE_THREADS: {
    fallback: "",
    read: intakeThreads,
    hint: "threads that judge bodies of event collect beside the main thread; empty: one fewer than cores, two with the role apply, at most 16",
  },
  LOG_URL: {
    fallback: "",
    read: logUrl,
    hint: "nats://… of a log in NATS JetStream; empty: the journal is in DATA_DIR",
  },
  JOURNAL_PENDING_BYTES_MAX: {
    fallback: "64MiB",
    read: bytes(1 * MIB, 4 * GIB),
    hint: "bytes that may wait in memory for the disk",
  },
  JOURNAL_BACKLOG_BYTES_MAX: {
    fallback: "20GiB",
    read: bytes(1 * MIB, 16_384 * GIB),
    hint: "journal that may wait for the database",
  },
  JOURNAL_KEEP_DAYS: {
    fallback: "3",
    read: integer(0, 36_500),
    hint: "days for which applied journal segments are kept",
  },
  DISK_FREE_BYTES_MIN: {
    fallback: "1GiB",
    read: bytes(0, 16_384 * GIB),
    hint: "free space below which new data is refused",
  },
  EVENT_RETENTION_DAYS: {
    fallback: "0",
    read: integer(0, 36_500),
    hint: "days for which raw events are kept; 0: forever",
  },
  EVENT_HOT_DAYS: {
    fallback: "0",
    read: integer(0, 36_500),
    hint: "days for which raw events are kept in the database; older ones are only in the lake; 0: all are in the database",
  },
  LAKE_MEMORY_BYTES: {
    fallback: "256MiB",
    read: bytes(128 * MIB, 64 * GIB),
    hint: "memory with which the lake's process writes files, or answers a question",
  },
  LAKE_BUCKET_URL: {
    fallback: "",
    read: bucketUrl,
    hint: "s3://bucket/prefix of an S3-compatible bucket that is kept in step with the lake's files; empty: none",
  },
  LAKE_BUCKET_ENDPOINT: {
    fallback: "",
    read: (text: string) => (text === "" ? "" : httpUrl(text)),
    hint: "http(s)://… of the storage that has the bucket; empty: AWS in the region",
  },
  LAKE_BUCKET_REGION: { fallback: "us-east-1", read: nonEmpty, hint: "the bucket's region; many storages take any" },
  LAKE_BUCKET_KEY_ID: { fallback: "", read: (text: string) => text, hint: "the id of the access key for the bucket" },
  LAKE_BUCKET_KEY: { fallback: "", read: (text: string) => text, hint: "the secret of that access key" },
  LAKE_BUCKET_STYLE: {
    fallback: "path",
    read: oneOf(["path", "host"] as const),
    hint: "where requests name the bucket: path (endpoint/bucket), host (bucket.endpoint)",
  },
  BACKUP_DIR: {
    fallback: "",
    read: (text: string) => (text === "" ? "" : resolve(text)),
    hint: "folder for scheduled backups; empty: none are taken",
  },
  BACKUP_EVERY_H: { fallback: "24", read: hours(1, 24 * 366), hint: "hours from one scheduled backup to the next" },
  BACKUP_KEEP: {
    fallback: "7",
    read: integer(1, 10_000),
    hint: "scheduled backups that are kept; older ones are removed",
  },
  BACKUP_PASSPHRASE: {
    fallback: "",
    read: passphrase,
    hint: "puts the key into backups, under this passphrase; empty: only its fingerprint",
  },
  KNOWN_CLIENTS_MAX: { fallback: "500000", read: integer(1_000, 50_000_000), hint: "client ids remembered in memory" },
  SECRET_KEY: {
    fallback: "",
    read: secretKey,
    hint: "64 hex digits that encrypt secrets at rest; empty: a file in DATA_DIR",
  },
  APPLE_ATTRIBUTION_URL: {
    fallback: "https://api-adservices.apple.com/api/v1/",
    read: httpUrl,
    hint: "where `asa_token` is resolved",
  },
  POSTBACK_RETRY_S: {
    fallback: "60,300,900,1800,7200,21600,43200",
    read: (text: string) => text.split(",").map((part) => milliseconds(1, 30 * 86_400)(part.trim())),
    hint: "comma-separated waits after failed attempts; after the last one a postback has failed",
  },
  POSTBACK_DEADLINE_S: {
    fallback: "10",
    read: milliseconds(1, 120),
    hint: "time within which a platform must answer",
  },
  CALLBACK_PRIVATE_NETWORKS: {
    fallback: "refuse",
    read: oneOf(["refuse", "allow"] as const),
    hint: "whether an app's callbacks may go to addresses of private networks: refuse, allow",
  },
  PLATFORM_PRIVATE_NETWORKS: {
    fallback: "refuse",
    read: oneOf(["refuse", "allow"] as const),
    hint: "whether platform accounts may use addresses of private networks, as test stand-ins do: refuse, allow",
  },
  DEMO_APP: {
    fallback: "on",
    read: oneOf(["on", "off"] as const),
    hint: "whether the first start creates a demo app: on, off",
  },
  PRINT_SECRETS: {
    fallback: "terminal",
    read: oneOf(["terminal", "always"] as const),
    hint: "when a start prints the first admin's link and the demo app's keys: terminal (only to a terminal), always",
  },
  SECOND_FACTOR_ROLES: {
    fallback: "",
    read: (text: string) => new Set(listed(text).map(oneOf(PERSON_ROLES))),
    hint: `comma-separated roles of people who must set up a second factor, out of ${PERSON_ROLES.join(", ")}; empty: none must`,
  },
  PASSWORD_SIGN_IN: {
    fallback: "on",
    read: oneOf(["on", "off"] as const),
    hint: "whether people can sign in with a password: on, off (then only at the identity provider)",
  },
  OIDC_ISSUER: {
    fallback: "",
    read: issuerUrl,
    hint: "https://… of an identity provider that speaks OpenID Connect; empty: none",
  },
  OIDC_CLIENT_ID: { fallback: "", read: (text: string) => text, hint: "this console's id at the identity provider" },
  OIDC_CLIENT_SECRET: {
    fallback: "",
    read: (text: string) => text,
    hint: "its secret there; empty: a public client, which PKCE protects",
  },
  OIDC_NAME: { fallback: "Single sign-on", read: nonEmpty, hint: "the identity provider's name on the sign-in page" },
  OIDC_SCOPES: { fallback: "openid email profile", read: oidcScopes, hint: "what is asked for, with openid" },
  OIDC_GROUPS_CLAIM: { fallback: "groups", read: nonEmpty, hint: "the claim that lists a person's groups" },
  OIDC_ROLES: {
    fallback: "",
    read: groupRoles,
    hint: 'roles by group, as JSON: {"bi": "analyst=1,2", "admins": "admin"}; empty: roles are given in the console',
  },
  OIDC_PEOPLE: {
    fallback: "known",
    read: oneOf(["known", "create"] as const),
    hint: "who may come in: known (people added in the console), create (everybody whose groups have a role)",
  },
} satisfies Record<string, Setting<unknown>>;

/** Never shown, because they hold keys and passwords. */
export const SECRET_SETTINGS: ReadonlySet<keyof typeof SETTINGS> = new Set([
  "SECRET_KEY",
  "DATABASE_URL",
  "DATABASE_DIRECT_URL",
  "REPORT_DATABASE_URL",
  "LOG_URL",
  "OIDC_CLIENT_SECRET",
  "BACKUP_PASSPHRASE",
  "LAKE_BUCKET_KEY",
]);

function roles(text: string): ReadonlySet<Role> {
  return new Set(text.split(",").map((part) => oneOf(ROLES)(part.trim())));
}
