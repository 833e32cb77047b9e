import type pg from "pg";
import type { Clock } from "../clock.ts";
import type { Intake } from "../intake/intake.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import { type ResolverDeps, resolveTokens } from "./resolver.ts";

const IDLE_MS = 1_000;

export type ResolverLoopOptions = { pool: pg.Pool; log: Log; clock: Clock; url: string; intake: Intake };

/** Resolves tokens of Apple's AdServices in the background; the results reach the tables through the journal. */
export function startTokenResolver({ pool, log, clock, url, intake }: ResolverLoopOptions): Loop {
  const accept: ResolverDeps["accept"] = async ({ appId, clientId, ...result }) => {
    await intake.accept(
      { kind: "apple_attribution", app: appId, client: clientId, at: clock(), ip: "", ua: "", registered: "yes" },
      Buffer.from(JSON.stringify(result)),
    );
  };
  const deps = { pool, clock, url, accept };
  const turn = async () => ((await resolveTokens(deps)) > 0 ? ("busy" as const) : ("idle" as const));
  return startLoop({ name: "asa", log, idleMs: IDLE_MS, turn });
}
