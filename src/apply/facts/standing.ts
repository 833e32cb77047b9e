import type { UserAccount } from "../../db/user-account.ts";
import type { Counted } from "../../db/user-total.ts";
import { CUBE_DIMENSIONS } from "../../domain/cube.ts";
import type { JsonObject } from "../../domain/json.ts";
import { sourceSinceMs } from "../../domain/postback/postback-rule.ts";

/** All fields that decide where in the cube a user is counted, as one text. */
export function standingOf(user: UserAccount): string {
  const { registeredDay, touchedAtMs, isHistory } = user;
  return [registeredDay, touchedAtMs, isHistory, ...DIMENSION_FIELDS.map((field) => user[field])].join("\u0000");
}

/** What the totals count of a user. */
export function countedOf(user: UserAccount): Counted {
  const { appId, registeredDay, adPlatform, latestLoginDay, payCount, payCents, payMaxCents } = user;
  return { appId, registeredDay, adPlatform, latestLoginDay, payCount, payCents, payMaxCents };
}

/** All fields that decide what is reported about a user. */
export type Judged = { fields: string; adData: JsonObject };

export function judgedOf(user: UserAccount): Judged {
  const { adPlatform, campaignId, advertiserId, decisionNumber, isHistory, adData } = user;
  const { isRegistered, registeredAtMs, registrationReceivedAtMs } = user;
  const source = [adPlatform, campaignId, advertiserId, sourceSinceMs(user), decisionNumber > 1];
  const arrival = [isRegistered, registeredAtMs, registrationReceivedAtMs, isHistory];
  return { fields: [...source, ...arrival].join("\u0000"), adData };
}

/** Sources are replaced as a whole, so most users still have the same object. */
export function isSameJudged(one: Judged, other: Judged): boolean {
  return (
    one.fields === other.fields &&
    (one.adData === other.adData || JSON.stringify(one.adData) === JSON.stringify(other.adData))
  );
}

const DIMENSION_FIELDS = CUBE_DIMENSIONS.map(
  (name) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) as keyof UserAccount,
);
