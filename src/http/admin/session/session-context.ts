import type { Config } from "../../../config.ts";
import type { Metrics } from "../../../intake/metrics.ts";
import type { Log } from "../../../log.ts";
import type { IdentityProvider } from "../../../outbound/identity-provider.ts";
import type { AuthenticationContext } from "../authentication.ts";

/** What the routes for sessions and for the console's people work with. */
export type SessionContext = AuthenticationContext & {
  metrics: Metrics;
  log: Log;
  config: Pick<Config, "passwordSignIn">;
  /** Undefined when none is set. */
  identityProvider: IdentityProvider | undefined;
};
