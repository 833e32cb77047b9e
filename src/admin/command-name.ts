import { createHmac, timingSafeEqual } from "node:crypto";
import type { Vault } from "../vault.ts";

/** The header of a command that calls the admin interface: the name for the audit log, signed. */
export const COMMAND_HEADER = "touchpoint-command";

/** Signs the name with the installation's key. A holder of the admin token alone cannot act under such a name. */
export function signedCommandName(vault: Vault, name: string): string {
  const text = Buffer.from(name).toString("base64url");
  return `${text}.${signOf(vault, text).toString("base64url")}`;
}

/** The name that a command signed, or undefined when there is none or the signature is wrong. */
export function readCommandName(vault: Vault, header: string | undefined): string | undefined {
  const [text = "", given = ""] = (header ?? "").split(".");
  const [left, right] = [Buffer.from(given, "base64url"), signOf(vault, text)];
  return left.length === right.length && timingSafeEqual(left, right)
    ? Buffer.from(text, "base64url").toString()
    : undefined;
}

function signOf(vault: Vault, text: string): Buffer {
  return createHmac("sha256", vault.keyFor("command-name")).update(text).digest();
}
