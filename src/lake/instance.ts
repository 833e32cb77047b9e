import { createRequire } from "node:module";
import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { quoted } from "./lake-statements.ts";

/** Loads the columnar engine when it is first used: an installation may leave its package out. */
export function loadEngine(): typeof import("@duckdb/node-api") {
  return createRequire(import.meta.url)("@duckdb/node-api");
}

export type InstanceLimits = { memoryBytes: number; threads: number };

/** Makes an instance without data, which fetches nothing from the network. */
export function makeInstance({ memoryBytes, threads }: InstanceLimits): Promise<DuckDBInstance> {
  return loadEngine().DuckDBInstance.create(":memory:", {
    memory_limit: `${Math.floor(memoryBytes / 1e6)}MB`,
    threads: String(threads),
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
  });
}

/** Names the folder for what an instance has no memory for. */
export async function setTempFolder(connection: DuckDBConnection, folder: string): Promise<void> {
  await connection.run(`set temp_directory = ${quoted(folder)}`);
}
