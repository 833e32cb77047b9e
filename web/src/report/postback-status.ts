import type { PostbackStatuses } from "../../../src/contract/setting/postback.ts";

/** The interface's status numbers by name. Their type is the server's own, so that the compiler compares the two. */
export const POSTBACK_STATUS: PostbackStatuses = { waiting: 0, accepted: 1, givenUp: 2, skipped: 3 };

/** The statuses that can be sent again. */
export const RESENDABLE: readonly number[] = [POSTBACK_STATUS.givenUp, POSTBACK_STATUS.skipped];
