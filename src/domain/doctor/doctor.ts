import type { AppMetadata } from "../event/metadata.ts";
import {
  badProperties,
  debugInProduction,
  deviceNotDecrypted,
  encryptedEvents,
  refusedCalls,
  rejectedEvents,
  timeUnit,
  undeclaredEvents,
  unregisteredClients,
} from "./doctor-call.ts";
import { clockSkew } from "./doctor-clock.ts";
import {
  missingUserAgent,
  nothingToAttributeBy,
  openidIsAppId,
  placeholderClientId,
  sharedAddress,
  sharedClientId,
  sharedOpenid,
} from "./doctor-identity.ts";
import { amountUnit, ecpmUnit, paymentWithoutOrderId, repeatedOrder } from "./doctor-money.ts";
import { type StoredFacts, storedFindings } from "./doctor-stored.ts";
import { unknownCampaign, unreplacedMacro } from "./doctor-touch.ts";
import { type Finding, mergeFindings } from "./finding.ts";
import { paymentsOf, type SeenCall, type SeenPayment } from "./seen-call.ts";

export type DoctorInput = {
  appId: number;
  nowMs: number;
  metadata: Pick<AppMetadata, "mode" | "events">;
  /** Undefined, like `stored`, while the database is away. */
  campaigns: ReadonlySet<string> | undefined;
  /** Recent calls, oldest first. */
  calls: readonly SeenCall[];
  /** Payments in the tables. */
  payments: readonly SeenPayment[];
  stored: StoredFacts | undefined;
};

/** Diagnoses how an app sends its data, from its recent calls and the tables. */
export function diagnose({ appId, nowMs, metadata, campaigns, calls, payments, stored }: DoctorInput): Finding[] {
  const seen = calls.flatMap(paymentsOf);
  const ofPayments = [amountUnit, paymentWithoutOrderId, repeatedOrder];
  return mergeFindings([
    ...[refusedCalls, rejectedEvents, badProperties, encryptedEvents, timeUnit].map((rule) => rule(calls)),
    ...[clockSkew, unregisteredClients, deviceNotDecrypted, debugInProduction].map((rule) => rule(calls)),
    ...[placeholderClientId, sharedClientId, sharedOpenid, sharedAddress].map((rule) => rule(calls)),
    ...[missingUserAgent, nothingToAttributeBy, unreplacedMacro, ecpmUnit].map((rule) => rule(calls)),
    undeclaredEvents(calls, metadata, nowMs),
    openidIsAppId(calls, appId),
    campaigns && unknownCampaign(calls, campaigns),
    ...ofPayments.flatMap((rule) => [rule(seen), rule(payments)]),
    ...(stored ? storedFindings(stored) : []),
  ]);
}
