import type { Attack } from "../attack.ts";
import { fullJournal } from "./bodies/full-journal.ts";
import { hugeProfile } from "./bodies/huge-profile.ts";
import { longNumbers } from "./bodies/long-numbers.ts";
import { manyKeys } from "./bodies/many-keys.ts";
import { packedCollect } from "./bodies/packed-collect.ts";
import { packedReport } from "./bodies/packed-report.ts";
import { packedSignIn } from "./bodies/packed-sign-in.ts";
import { slowPatterns } from "./bodies/slow-patterns.ts";
import { deafWatchers } from "./connections/deaf-watchers.ts";
import { longHeads } from "./connections/long-heads.ts";
import { manyConnections } from "./connections/many.ts";
import { pipelines } from "./connections/pipelines.ts";
import { slowHeads } from "./connections/slow-heads.ts";
import { unknownTokens } from "./connections/unknown-tokens.ts";
import { waitingBodies } from "./connections/waiting-bodies.ts";
import { heavyReports } from "./floods/heavy-reports.ts";
import { manyDays } from "./floods/many-days.ts";
import { manyIds } from "./floods/many-ids.ts";
import { oneAddress } from "./floods/one-address.ts";
import { oneApp } from "./floods/one-app.ts";
import { registrations } from "./floods/registrations.ts";
import { unknownClients } from "./floods/unknown-clients.ts";
import { unknownPaths } from "./floods/unknown-paths.ts";
import { baiduClicks } from "./forgery/baidu-clicks.ts";
import { formulas } from "./forgery/formulas.ts";
import { fuzzer } from "./forgery/fuzzer.ts";
import { innerAddresses } from "./forgery/inner-addresses.ts";
import { otherApp } from "./forgery/other-app.ts";
import { crossSite } from "./sign-in/cross-site.ts";
import { lockOut } from "./sign-in/lock-out.ts";
import { passwordGuessing } from "./sign-in/password-guessing.ts";
import { setupGuessing } from "./sign-in/setup-guessing.ts";
import { signInStorm } from "./sign-in/storm.ts";

/** All attacks: a closed list. */
export const ATTACKS: readonly Attack[] = [
  ...[packedSignIn, packedReport, packedCollect, manyKeys, longNumbers, slowPatterns, longHeads, heavyReports],
  ...[signInStorm, setupGuessing, hugeProfile, manyIds],
  ...[fullJournal, oneApp, oneAddress, registrations, otherApp],
  ...[baiduClicks, manyDays],
  ...[unknownTokens, waitingBodies, slowHeads, manyConnections, pipelines, deafWatchers, unknownClients, unknownPaths],
  ...[lockOut, passwordGuessing, crossSite, innerAddresses, formulas, fuzzer],
];

export function attackNamed(name: string): Attack | undefined {
  return ATTACKS.find((attack) => attack.name === name);
}
