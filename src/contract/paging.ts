import { Type } from "typebox";
import { LIMITS } from "../limits.ts";

/** Paging of lists requested with GET, where every parameter is a text. */
export const pageFields = {
  page: Type.Optional(Type.String({ pattern: "^[1-9]\\d{0,7}$", description: "Page number; default 1" })),
  page_size: Type.Optional(
    Type.String({ pattern: "^[1-9]\\d{0,3}$", description: `Rows per page, up to ${LIMITS.pageSize}; default 20` }),
  ),
};
