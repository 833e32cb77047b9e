import type { Metrics } from "../../../intake/metrics.ts";
import type { AuthenticationContext } from "../authentication.ts";

/** What the routes for sessions and for the console's people work with. */
export type SessionContext = AuthenticationContext & { metrics: Metrics };
