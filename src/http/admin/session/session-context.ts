import type { Metrics } from "../../../intake/metrics.ts";
import type { AuthenticationContext } from "../authentication.ts";

/** What signing in and out works with, and the console's people. */
export type SessionContext = AuthenticationContext & { metrics: Metrics };
