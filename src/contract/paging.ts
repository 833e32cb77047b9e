import { Type } from "typebox";
import { LIMITS } from "../limits.ts";

/** Of a list that is asked for with GET, where everything is a text. */
export const pageFields = {
  page: Type.Optional(Type.String({ pattern: "^[1-9]\\d{0,7}$", description: "Which page; 1 without it" })),
  page_size: Type.Optional(
    Type.String({ pattern: "^[1-9]\\d{0,3}$", description: `Rows of a page, up to ${LIMITS.pageSize}; 20 without it` }),
  ),
};
