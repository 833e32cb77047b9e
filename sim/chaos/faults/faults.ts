import type { Fault } from "../fault.ts";
import { ALTERED_FAULTS } from "./altered.ts";
import { APP_FAULTS } from "./apps.ts";
import { CLIENT_FAULTS } from "./clients.ts";
import { CLOCK_FAULTS } from "./clock.ts";
import { DATABASE_FAULTS } from "./database.ts";
import { DISK_FAULTS } from "./disk.ts";
import { FUZZ_FAULTS } from "./fuzz.ts";
import { JOURNAL_FAULTS } from "./journal.ts";
import { JUDGING_FAULTS } from "./judging.ts";
import { KILLS } from "./kills.ts";
import { LIMIT_FAULTS } from "./limits.ts";
import { SECOND_SERVER_FAULTS } from "./second-server.ts";
import { WORKER_FAULTS } from "./worker.ts";

/** All faults: a closed list. */
export const FAULTS: readonly Fault[] = [
  ...KILLS,
  ...JUDGING_FAULTS,
  ...WORKER_FAULTS,
  ...DATABASE_FAULTS,
  ...ALTERED_FAULTS,
  ...SECOND_SERVER_FAULTS,
  ...DISK_FAULTS,
  ...JOURNAL_FAULTS,
  ...CLOCK_FAULTS,
  ...CLIENT_FAULTS,
  ...LIMIT_FAULTS,
  ...APP_FAULTS,
  ...FUZZ_FAULTS,
];

export function faultNamed(name: string): Fault | undefined {
  return FAULTS.find((fault) => fault.name === name);
}
