import { randomBytes } from "node:crypto";
import { type Static, Type } from "typebox";
import { codeBody, consoleUserNameBody, type SecondFactorCodes } from "../../contract/setting/session.ts";
import { type AdminUser, findAdminUser } from "../../db/admin-user.ts";
import { endSessionsOf } from "../../db/console-session.ts";
import type { Executor } from "../../db/engine/sql.ts";
import {
  beginSecondFactor,
  confirmSecondFactor,
  dropSecondFactor,
  loadSecondFactor,
  useRecoveryCode,
  useStep,
} from "../../db/second-factor.ts";
import { base32, stepOfCode, totpUri } from "../../domain/access/totp.ts";
import { ApiError } from "../../errors.ts";
import { act, type Desk } from "../desk.ts";
import { endAccessOf } from "./access.ts";
import { nobody } from "./people.ts";

const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 10;

/** A desk of a person who is signed in; the session stays when the others end. */
type OwnDesk = Desk & { user: Pick<AdminUser, "userId" | "name">; session: string };

export type BegunSecondFactor = { secret: string; uri: string };

/** Makes a secret for an authenticator app. It counts only once it is confirmed with a code. */
export function beginOwnSecondFactor(desk: OwnDesk): Promise<BegunSecondFactor> {
  const { userId, name } = desk.user;
  return act(desk, {
    action: "session/second-factor",
    schema: Type.Object({}),
    body: {},
    isNoted: () => false,
    run: async (tx) => {
      const secret = randomBytes(SECRET_BYTES);
      if (!(await beginSecondFactor(tx, desk.vault, { userId, secret })))
        throw new ApiError("badParameter", "The second factor is on already: switch it off first.");
      return { secret: base32(secret), uri: totpUri({ secret, account: name, issuer: "Touchpoint" }) };
    },
  });
}

/** Switches the second factor on. The person's other sessions end. */
export function confirmOwnSecondFactor(desk: OwnDesk, body: Static<typeof codeBody>): Promise<SecondFactorCodes> {
  const { userId } = desk.user;
  return act(desk, {
    action: "session/second-factor/confirm",
    schema: codeBody,
    body,
    noted: () => ({}),
    run: async (tx) => {
      const nowMs = desk.clock();
      const factor = await loadSecondFactor(tx, desk.vault, userId);
      if (!factor || factor.confirmedAtMs !== null)
        throw new ApiError("badParameter", "There is no second factor to confirm: begin again.");
      const step = stepOfCode(factor.secret, plainCode(body.code), nowMs);
      if (step === undefined || !(await useStep(tx, { userId, step }))) throw wrongCode();
      const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
      await confirmSecondFactor(tx, { userId, codes: codes.map(plainCode), nowMs });
      await endSessionsOf(tx, userId, desk.session);
      return { recovery_codes: codes };
    },
  });
}

/** Switches the second factor off, with a code of it. The person's other sessions end. */
export function dropOwnSecondFactor(desk: OwnDesk, body: Static<typeof codeBody>): Promise<void> {
  const { userId } = desk.user;
  return act(desk, {
    action: "session/second-factor/remove",
    schema: codeBody,
    body,
    noted: () => ({}),
    run: async (tx) => {
      await assertSecondFactor(tx, desk, { userId, code: body.code });
      await dropSecondFactor(tx, userId);
      await endSessionsOf(tx, userId, desk.session);
    },
  });
}

/** Removes the second factor of somebody who has lost it. All their sessions and tokens end. */
export function resetSecondFactor(desk: Desk, body: Static<typeof consoleUserNameBody>): Promise<void> {
  return act(desk, {
    action: "console-users/reset-second-factor",
    schema: consoleUserNameBody,
    body,
    run: async (tx) => {
      const user = await findAdminUser(tx, body.name);
      if (!user) throw nobody(body);
      if (!(await dropSecondFactor(tx, user.userId)))
        throw new ApiError("badParameter", `${JSON.stringify(user.name)} has no second factor.`);
      await endAccessOf(tx, desk, user);
    },
  });
}

/**
 * Refuses a person whose second factor is on without a code of it, or one of the recovery codes. Each counts once, in the
 * transaction that lets the person in.
 */
export async function assertSecondFactor(
  tx: Executor,
  { vault, clock }: Pick<Desk, "vault" | "clock">,
  { userId, code }: { userId: number; code: string | undefined },
): Promise<void> {
  const factor = await loadSecondFactor(tx, vault, userId);
  if (!factor || factor.confirmedAtMs === null) return;
  if (code === undefined || code === "")
    throw new ApiError("secondFactor", "Enter the code that your authenticator app shows, or a recovery code.");
  const nowMs = clock();
  const plain = plainCode(code);
  const step = stepOfCode(factor.secret, plain, nowMs);
  const isRight =
    step === undefined
      ? await useRecoveryCode(tx, { userId, code: plain, nowMs })
      : await useStep(tx, { userId, step });
  if (!isRight) throw wrongCode();
}

/** As people type codes: with blanks, dashes and small letters. */
function plainCode(code: string): string {
  return code.replace(/[\s-]/g, "").toUpperCase();
}

function newRecoveryCode(): string {
  return base32(randomBytes(RECOVERY_BYTES))
    .toLowerCase()
    .replace(/.{4}(?!$)/g, "$&-");
}

function wrongCode(): ApiError {
  return new ApiError("badSign", "The code is wrong, or was used already.");
}
