import type { TouchKind } from "../../domain/attribution/touch.ts";
import type { LinkQuery } from "../../platform/link-query.ts";

/** A call of a monitoring link, as either door hands it over. */
export type TouchCall = {
  kind: TouchKind;
  /** The query without the question mark, one character per byte. */
  query: string;
  /** The body: a form adds to the query, a list holds touches where the platform posts lists; the rest is ignored. */
  body: { bytes: Buffer; isForm: boolean } | undefined;
  /** The path and query as called. `host` is the one that the caller named. */
  url: string;
  host: string;
  ip: string;
  ua: string;
};

/** A call with the bytes that go into the journal, and the link parameters read from them. */
export type ReadCall = TouchCall & { bytes: Buffer; link: LinkQuery };
