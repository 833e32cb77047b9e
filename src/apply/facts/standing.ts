import type { UserAccount } from "../../db/user-account.ts";
import { CUBE_DIMENSIONS } from "../../domain/cube.ts";

/** All fields that decide where in the cube a user is counted, as one text. */
export function standingOf(user: UserAccount): string {
  const { registeredDay, touchedAtMs, isHistory } = user;
  return [registeredDay, touchedAtMs, isHistory, ...DIMENSION_FIELDS.map((field) => user[field])].join("\u0000");
}

const DIMENSION_FIELDS = CUBE_DIMENSIONS.map(
  (name) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) as keyof UserAccount,
);
