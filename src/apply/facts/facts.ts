import type { AppSettings } from "./app-settings.ts";
import type { BatchUsers } from "./batch-users.ts";
import type { LakeNews } from "./lake-news.ts";
import type { Tallies } from "./tallies.ts";

/** A batch in memory: the settings that judge it, its users, what it adds to the tables, and what of that the lake lacks. */
export type Facts = { settings: AppSettings; users: BatchUsers; tallies: Tallies; news: LakeNews };
