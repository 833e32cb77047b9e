import type { Grants, Role as PersonRole } from "./domain/access/role.ts";
import { UsageError } from "./errors.ts";
import type { JetStreamAddress } from "./journal/jetstream/address.ts";
import type { BucketAddress } from "./lake/bucket/address.ts";
import { unaskedThreads } from "./setting-reader.ts";
import { type LogLevel, type Role, SECRET_SETTINGS, SETTINGS } from "./settings.ts";

export type Config = Readonly<{
  port: number;
  host: string;
  dataDir: string;
  databaseUrl: string;
  databaseDirectUrl: string;
  databaseConnectionsMax: number;
  reportDatabaseUrl: string;
  logLevel: LogLevel;
  roles: ReadonlySet<Role>;
  trustedProxies: readonly string[];
  bodyBytesMax: number;
  bodyUnpackedBytesMax: number;
  bodiesInFlightBytesMax: number;
  appEntriesPerS: number;
  appBytesPerS: number;
  addressEntriesPerS: number;
  addressBytesPerS: number;
  requestTimeoutS: number;
  connectionsMax: number;
  intakeThreads: number;
  /** The log in JetStream; undefined: the journal is in DATA_DIR. */
  jetstream: JetStreamAddress | undefined;
  journalPendingBytesMax: number;
  journalBacklogBytesMax: number;
  journalKeepDays: number;
  diskFreeBytesMin: number;
  eventRetentionDays: number;
  eventHotDays: number;
  lakeMemoryBytes: number;
  /** Undefined: the lake is in its folder alone. */
  lakeBucket: BucketSettings | undefined;
  backupDir: string;
  backupEveryMs: number;
  backupKeep: number;
  backupPassphrase: string;
  knownClientsMax: number;
  secretKey: string;
  appleAttributionUrl: string;
  postbackRetryMs: readonly number[];
  postbackDeadlineMs: number;
  callbackPrivateNetworks: boolean;
  platformPrivateNetworks: boolean;
  demoApp: boolean;
  printSecrets: "terminal" | "always";
  secondFactorRoles: ReadonlySet<PersonRole>;
  passwordSignIn: boolean;
  /** Undefined: nobody signs in at an identity provider. */
  oidc: OidcSettings | undefined;
}>;

/** An identity provider that speaks OpenID Connect, and whom it lets in. */
export type OidcSettings = Readonly<{
  issuer: string;
  clientId: string;
  clientSecret: string;
  name: string;
  scopes: string;
  groupsClaim: string;
  people: "known" | "create";
  roles: ReadonlyMap<string, Grants>;
}>;

/** A bucket, and how it is reached. An empty endpoint is that of AWS. */
export type BucketSettings = Readonly<{
  address: BucketAddress;
  endpoint: string;
  region: string;
  keyId: string;
  key: string;
  style: "path" | "host";
}>;

type Value = <K extends keyof typeof SETTINGS>(name: K) => ReturnType<(typeof SETTINGS)[K]["read"]>;

function oidcOf(value: Value): OidcSettings {
  return {
    issuer: value("OIDC_ISSUER"),
    clientId: value("OIDC_CLIENT_ID"),
    clientSecret: value("OIDC_CLIENT_SECRET"),
    name: value("OIDC_NAME"),
    scopes: value("OIDC_SCOPES"),
    groupsClaim: value("OIDC_GROUPS_CLAIM"),
    people: value("OIDC_PEOPLE"),
    roles: value("OIDC_ROLES"),
  };
}

function bucketOf(value: Value): BucketSettings | undefined {
  const settings = {
    endpoint: value("LAKE_BUCKET_ENDPOINT"),
    region: value("LAKE_BUCKET_REGION"),
    keyId: value("LAKE_BUCKET_KEY_ID"),
    key: value("LAKE_BUCKET_KEY"),
    style: value("LAKE_BUCKET_STYLE"),
  };
  const address = value("LAKE_BUCKET_URL");
  return address && { address, ...settings };
}

/** Reads all settings at once, so that one error names every bad variable. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const value = <K extends keyof typeof SETTINGS>(name: K): ReturnType<(typeof SETTINGS)[K]["read"]> => {
    const setting = SETTINGS[name];
    const text = env[name]?.trim() || setting.fallback;
    try {
      return setting.read(text) as ReturnType<(typeof SETTINGS)[K]["read"]>;
    } catch (error) {
      problems.push(`${name}=${SECRET_SETTINGS.has(name) ? "…" : JSON.stringify(text)}: ${(error as Error).message}`);
      return undefined as never;
    }
  };
  const roles = value("ROLES");
  const config: Config = {
    port: value("PORT"),
    host: value("HOST"),
    dataDir: value("DATA_DIR"),
    databaseUrl: value("DATABASE_URL"),
    databaseDirectUrl: value("DATABASE_DIRECT_URL"),
    databaseConnectionsMax: value("DATABASE_CONNECTIONS_MAX"),
    reportDatabaseUrl: value("REPORT_DATABASE_URL"),
    logLevel: value("LOG_LEVEL"),
    roles,
    trustedProxies: value("TRUSTED_PROXIES"),
    bodyBytesMax: value("BODY_BYTES_MAX"),
    bodyUnpackedBytesMax: value("BODY_UNPACKED_BYTES_MAX"),
    bodiesInFlightBytesMax: value("BODIES_IN_FLIGHT_BYTES_MAX"),
    appEntriesPerS: value("APP_ENTRIES_PER_S"),
    appBytesPerS: value("APP_BYTES_PER_S"),
    addressEntriesPerS: value("ADDRESS_ENTRIES_PER_S"),
    addressBytesPerS: value("ADDRESS_BYTES_PER_S"),
    requestTimeoutS: value("REQUEST_TIMEOUT_S"),
    connectionsMax: value("CONNECTIONS_MAX"),
    intakeThreads: value("INTAKE_THREADS") ?? unaskedThreads(roles ?? new Set()),
    jetstream: value("LOG_URL"),
    journalPendingBytesMax: value("JOURNAL_PENDING_BYTES_MAX"),
    journalBacklogBytesMax: value("JOURNAL_BACKLOG_BYTES_MAX"),
    journalKeepDays: value("JOURNAL_KEEP_DAYS"),
    diskFreeBytesMin: value("DISK_FREE_BYTES_MIN"),
    eventRetentionDays: value("EVENT_RETENTION_DAYS"),
    eventHotDays: value("EVENT_HOT_DAYS"),
    lakeMemoryBytes: value("LAKE_MEMORY_BYTES"),
    lakeBucket: bucketOf(value),
    backupDir: value("BACKUP_DIR"),
    backupEveryMs: value("BACKUP_EVERY_H"),
    backupKeep: value("BACKUP_KEEP"),
    backupPassphrase: value("BACKUP_PASSPHRASE"),
    knownClientsMax: value("KNOWN_CLIENTS_MAX"),
    secretKey: value("SECRET_KEY"),
    appleAttributionUrl: value("APPLE_ATTRIBUTION_URL"),
    postbackRetryMs: value("POSTBACK_RETRY_S"),
    postbackDeadlineMs: value("POSTBACK_DEADLINE_S"),
    callbackPrivateNetworks: value("CALLBACK_PRIVATE_NETWORKS") === "allow",
    platformPrivateNetworks: value("PLATFORM_PRIVATE_NETWORKS") === "allow",
    demoApp: value("DEMO_APP") === "on",
    printSecrets: value("PRINT_SECRETS"),
    secondFactorRoles: value("SECOND_FACTOR_ROLES"),
    passwordSignIn: value("PASSWORD_SIGN_IN") === "on",
    oidc: value("OIDC_ISSUER") === "" ? undefined : oidcOf(value),
  };
  problems.push(...clashesIn(config));
  if (problems.length > 0) throw new UsageError(`Bad settings:\n  ${problems.join("\n  ")}`);
  return Object.freeze(config);
}

/** Two listen for what other processes change, and as many are left for requests as without a log. */
const CONNECTIONS_WITH_LOG = 4;

/** Settings that do not go together. */
function clashesIn(config: Config): string[] {
  const { oidc, lakeBucket } = config;
  const clashes: [boolean, string][] = [
    [
      config.jetstream !== undefined && config.databaseConnectionsMax < CONNECTIONS_WITH_LOG,
      `DATABASE_CONNECTIONS_MAX: must be at least ${CONNECTIONS_WITH_LOG} with LOG_URL, which keeps two to listen on.`,
    ],
    // Only half is free to every app (see shared-room.ts), and the verdicts on a call can be as large as its body.
    [
      config.journalPendingBytesMax < 4 * config.bodyBytesMax,
      "JOURNAL_PENDING_BYTES_MAX: must be at least four times BODY_BYTES_MAX, or large bodies never fit.",
    ],
    [
      config.bodiesInFlightBytesMax < 4 * config.bodyBytesMax,
      "BODIES_IN_FLIGHT_BYTES_MAX: must be at least four times BODY_BYTES_MAX.",
    ],
    [
      Boolean(config.databaseDirectUrl) && !config.databaseUrl,
      "DATABASE_DIRECT_URL: is of use only together with DATABASE_URL.",
    ],
    [
      Boolean(config.reportDatabaseUrl) && !config.databaseUrl,
      "REPORT_DATABASE_URL: is of use only together with DATABASE_URL.",
    ],
    [
      lakeBucket?.keyId === "" || lakeBucket?.key === "",
      "LAKE_BUCKET_KEY_ID, LAKE_BUCKET_KEY: must be set with LAKE_BUCKET_URL.",
    ],
    ...hotDayClashes(config),
    [oidc?.clientId === "", "OIDC_CLIENT_ID: must be set with OIDC_ISSUER."],
    [
      oidc?.people === "create" && oidc.roles?.size === 0,
      "OIDC_ROLES: must be set with OIDC_PEOPLE=create, or new people would have no role.",
    ],
    [!config.passwordSignIn && !oidc, "PASSWORD_SIGN_IN: must be on without OIDC_ISSUER, or nobody could sign in."],
  ];
  return clashes.flatMap(([clash, sentence]) => (clash ? [sentence] : []));
}

/** Whoever applies reads older days in the lake, so one process does both. */
function hotDayClashes({ eventHotDays, eventRetentionDays, roles, jetstream }: Config): [boolean, string][] {
  if (!(eventHotDays > 0)) return [];
  return [
    [
      eventHotDays < HOT_DAYS_MIN,
      `EVENT_HOT_DAYS: must be 0, or at least ${HOT_DAYS_MIN}: the doctor looks at the last days.`,
    ],
    [
      eventRetentionDays > 0 && eventHotDays >= eventRetentionDays,
      "EVENT_HOT_DAYS: must be less than EVENT_RETENTION_DAYS, after which events are dropped.",
    ],
    [
      roles?.has("apply") !== roles?.has("lake"),
      "EVENT_HOT_DAYS: needs the roles apply and lake in one process: whoever applies reads older days in the lake.",
    ],
    [
      jetstream !== undefined,
      "EVENT_HOT_DAYS: does not work with LOG_URL, where any node may apply but only one has the lake.",
    ],
  ];
}

const HOT_DAYS_MIN = 3;

export const configFromEnvironment = (): Config => readConfig(process.env);
