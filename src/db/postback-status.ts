import { POSTBACK_STATUS, type PostbackStatusName } from "../domain/postback/postback.ts";
import { literal, type Sql } from "./engine/sql.ts";

/** The statuses of postbacks in statements, as literals: the index of accepted postbacks is a partial one. */
export const STATUS: Readonly<Record<PostbackStatusName, Sql>> = {
  waiting: literal(POSTBACK_STATUS.waiting),
  accepted: literal(POSTBACK_STATUS.accepted),
  givenUp: literal(POSTBACK_STATUS.givenUp),
  skipped: literal(POSTBACK_STATUS.skipped),
};
