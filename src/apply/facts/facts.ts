import type { AppSettings } from "./app-settings.ts";
import type { BatchUsers } from "./batch-users.ts";
import type { Tallies } from "./tallies.ts";

/** A batch in memory: the settings that judge it, its users, and what it adds to the tables. */
export type Facts = { settings: AppSettings; users: BatchUsers; tallies: Tallies };
