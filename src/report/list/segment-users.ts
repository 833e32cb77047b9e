import type { Executor } from "../../db/engine/sql.ts";
import { loadDevices, type UserDevice } from "../../db/user-device.ts";
import { DEVICE_IDS } from "../../domain/user/device.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { type ExportedRecord, type ExportFormat, recordsText } from "./export.ts";

/** Rows with the users of a segment, in pieces: there may be millions. */
type Pieces = AsyncIterable<readonly (readonly unknown[])[]>;

/** All users of a segment, for a statement that filters by them. */
export async function gatherClients(pieces: Pieces, name: string): Promise<string[]> {
  const clients: string[] = [];
  for await (const rows of pieces) {
    for (const [client] of rows) clients.push(String(client));
    if (clients.length > LIMITS.segmentUsers)
      throw new ApiError(
        "badParameter",
        `The segment ${JSON.stringify(name)} has more than ${LIMITS.segmentUsers} users, by whom no list can be filtered: narrow the segment, or export it.`,
      );
  }
  return clients;
}

export type SegmentExport = {
  appId: number;
  pieces: Pieces;
  kind: "clients" | "devices";
  format: ExportFormat;
  /** Awaited, so that a slow reader slows the export down and nothing piles up. */
  write: (text: string) => Promise<void>;
};

/**
 * Writes the users of a segment, or their devices, and returns the number of rows. Users who have been erased since the
 * segment was evaluated are left out.
 */
export async function exportSegment(executor: Executor, asked: SegmentExport): Promise<number> {
  const { appId, kind, format, write } = asked;
  let count = 0;
  for await (const rows of asked.pieces) {
    const clients = rows.map(([client]) => String(client));
    const users = await loadDevices(executor, { appId, clients });
    const records = kind === "clients" ? users.map(clientRecord) : users.flatMap(deviceRecord);
    if (records.length > 0) await write(recordsText(records, format, count === 0 ? "first" : "later"));
    count += records.length;
  }
  return count;
}

function clientRecord({ clientId }: UserDevice): ExportedRecord {
  return { client_id: clientId };
}

/** None for a user without any id of a device. */
function deviceRecord({ clientId, osPlatform, device }: UserDevice): ExportedRecord[] {
  const ids = DEVICE_IDS.map((name) => [name, device?.[name] ?? ""] as const);
  if (ids.every(([, id]) => id === "")) return [];
  return [{ client_id: clientId, os_platform: osPlatform, ...Object.fromEntries(ids) }];
}
