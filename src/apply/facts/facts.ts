import type { AppSettings } from "./app-settings.ts";
import type { BatchUsers } from "./batch-users.ts";
import type { Tallies } from "./tallies.ts";

/** What one batch is judged by, whom it is about, and what it adds to the tables. */
export type Facts = { settings: AppSettings; users: BatchUsers; tallies: Tallies };
