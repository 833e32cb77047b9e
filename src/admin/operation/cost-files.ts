import type { Readable } from "node:stream";
import type { Static } from "typebox";
import { csvBody } from "../../contract/admin/cost.ts";
import { FileError } from "../../cost/csv-file.ts";
import { importAdObjects, importAdvertisers, importCosts, importRebates } from "../../cost/file-import.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { ApiError } from "../../errors.ts";
import { assertApps } from "../apps.ts";
import { act, type Desk } from "../desk.ts";
import { changeRebates } from "../setting/rebates.ts";

/** A CSV file, and the body that came with it: `csv` is empty unless the body holds the whole file. */
export type GivenFile = { body: Static<typeof csvBody>; file: Readable };

/** Imports costs of an app. Each import takes the whole file or nothing, and returns the number of rows. */
export function takeCosts(desk: Desk, given: GivenFile): Promise<number> {
  return takeFile(desk, given, {
    action: "cost/import",
    take: async (tx) => {
      const appId = await appOf(tx, given);
      return importCosts(tx, given.file, { appId, changedAtMs: desk.clock() });
    },
  });
}

/** Imports rebates of an app's accounts. */
export function takeRebates(desk: Desk, given: GivenFile): Promise<number> {
  return takeFile(desk, given, {
    action: "rebate/import",
    take: async (tx) => {
      const appId = await appOf(tx, given);
      return changeRebates(tx, appId, () => importRebates(tx, given.file, { appId, changedAtMs: desk.clock() }));
    },
  });
}

async function appOf(tx: Executor, { body: { app_id: appId } }: GivenFile): Promise<number> {
  if (appId === undefined) throw new ApiError("badParameter", "app_id is missing.");
  await assertApps(tx, [appId]);
  return appId;
}

/** Imports names of accounts at ad platforms. */
export function takeAdvertisers(desk: Desk, given: GivenFile): Promise<number> {
  return takeFile(desk, given, { action: "advertiser/import", take: (tx) => importAdvertisers(tx, given.file) });
}

/** Imports names of plans, ads and creatives. */
export function takeAdObjects(desk: Desk, given: GivenFile): Promise<number> {
  return takeFile(desk, given, { action: "ad-object/import", take: (tx) => importAdObjects(tx, given.file) });
}

function takeFile(
  desk: Desk,
  { body }: GivenFile,
  { action, take }: { action: string; take: (tx: Executor) => Promise<number> },
): Promise<number> {
  return act(desk, {
    action,
    schema: csvBody,
    body,
    noted: () => ({ app_id: body.app_id, csv: body.csv === "" ? undefined : body.csv }),
    run: (tx) =>
      take(tx).catch((error: unknown) => {
        throw error instanceof FileError ? new ApiError("badParameter", error.message) : error;
      }),
  });
}
