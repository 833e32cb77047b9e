import { PLATFORMS } from "../campaigns/platform-choice.tsx";
import { ACCOUNT_FIELDS } from "../cost/account-query.ts";

export const CONNECTORS = "connectors";

/** Queries that show connectors, or what platforms can do by them. */
export const CONNECTOR_VIEWS = [[CONNECTORS], [PLATFORMS], [ACCOUNT_FIELDS]] as const;
