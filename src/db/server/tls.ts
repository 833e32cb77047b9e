import { readFileSync, statSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import { messageOf, UsageError } from "../../errors.ts";
import type { Host, Tls } from "./address.ts";

/**
 * The ways to try a host, in the order of libpq:
 *
 *   disable               plain
 *   allow                 plain, and TLS when the server refuses that
 *   prefer                TLS, and plain when the server has none or refuses it
 *   require, verify-…     TLS
 *
 * node-postgres differs: it takes prefer, require and verify-ca for verify-full, has no allow, never falls back, and
 * without sslmode connects in plain text.
 */
export function waysOf(tls: Tls, { host }: Host): readonly ("plain" | "tls")[] {
  // A Unix socket does not leave the machine; libpq ignores sslmode there too.
  if (host.startsWith("/")) return ["plain"];
  switch (tls.mode) {
    case "disable":
      return ["plain"];
    case "allow":
      return ["plain", "tls"];
    case "prefer":
      return ["tls", "plain"];
    default:
      return ["tls"];
  }
}

/**
 * Options of an encrypted connection. The files are read for every connection, so a renewed certificate is used
 * without a restart. As in libpq, an authority that is given is always checked, and only verify-full compares the name.
 */
export function tlsOptions(tls: Tls): ConnectionOptions {
  const options: ConnectionOptions = { rejectUnauthorized: tls.rootCert !== "" };
  if (tls.rootCert !== "" && tls.rootCert !== "system") options.ca = readPem("sslrootcert", tls.rootCert);
  if (tls.mode !== "verify-full") options.checkServerIdentity = () => undefined;
  if (tls.cert !== "") {
    assertPrivate(tls.key);
    options.cert = readPem("sslcert", tls.cert);
    options.key = readPem("sslkey", tls.key);
    if (tls.keyPassword !== "") options.passphrase = tls.keyPassword;
  }
  return options;
}

function readPem(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`The file of ${name} cannot be read: ${messageOf(error)}`);
  }
}

/** libpq's rule: nobody else may read the key; one that belongs to root may be readable by its group. */
function assertPrivate(path: string): void {
  if (process.platform === "win32") return;
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if ((found.mode & (found.uid === 0 && process.getuid?.() !== 0 ? 0o037 : 0o077)) !== 0)
    throw new UsageError(`${path} of sslkey can be read by others: chmod 600 it.`);
}

/** Whether the other way is worth a try: the server has no TLS, refuses this way, or the handshake failed. */
export function isWayRefused(error: unknown): boolean {
  const { code, message = "" } = Object(error) as { code?: unknown; message?: string };
  if (typeof code === "string")
    return code === "28000" || /^(ERR_SSL|ERR_TLS|EPROTO)/.test(code) || isCertificate(code);
  return message === "The server does not support SSL connections";
}

/** Codes of certificates that are not accepted, as OpenSSL names them. */
function isCertificate(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/.test(code);
}
