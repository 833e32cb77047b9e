import type { App } from "../../db/app.ts";
import { ApiError, UsageError } from "../../errors.ts";
import type { Asker } from "../../lake/asker.ts";
import { type DatabaseSession, findApp, withDatabase } from "../session.ts";

/** Puts questions about an app to the files in DATA_DIR/lake. */
export type LakeSession = { session: DatabaseSession; app: App; asker: Asker };

export function withLake<T>(appId: number, work: (lake: LakeSession) => Promise<T>): Promise<T> {
  return withDatabase(async (session) => {
    const app = await findApp(session, appId);
    // Loaded here: the engine is a package that an installation may leave out.
    const { localAsker } = await import("../../lake/local-asker.ts");
    return work({ session, app, asker: await localAsker(session.config) }).catch(asUsage);
  });
}

export function asUsage(error: unknown): never {
  throw error instanceof ApiError ? new UsageError(error.message) : error;
}
