import { hostname, userInfo } from "node:os";
import type { By, Desk } from "../admin/desk.ts";
import { systemClock } from "../clock.ts";
import type { DatabaseSession } from "./session.ts";

/** What an act works with when a command runs it. */
export function deskOf({ pool, vault }: DatabaseSession): Desk {
  return { pool, vault, clock: systemClock, by: commandLine() };
}

/** Who runs the command. */
export function commandLine(): By {
  return { name: `command line (${systemUser()})`, address: hostname() };
}

/** The user's name, or the number: in a container the user often has no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
