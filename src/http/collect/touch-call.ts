import type { TouchKind } from "../../domain/attribution/touch.ts";
import type { LinkQuery } from "../../platform/link-query.ts";

/** A call of a monitoring link, as either door hands it over. */
export type TouchCall = {
  kind: TouchKind;
  /** The query without the question mark, one character a byte. */
  query: string;
  /** The body: a form adds to the query, anything else says nothing. */
  body: { bytes: Buffer; isForm: boolean } | undefined;
  /** The path and query as called, and the host that the caller named. */
  url: string;
  host: string;
  ip: string;
  ua: string;
};

/** A call, and what was read from the bytes that go into the journal. */
export type ReadCall = TouchCall & { bytes: Buffer; link: LinkQuery };
