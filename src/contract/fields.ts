import { Type } from "typebox";
import { LIMITS } from "../limits.ts";

/** Building blocks of the operations' schemas. */
type Words = { description: string };

export const text = (description: string) => Type.String({ description });

export const nonEmptyText = (description: string) => Type.String({ description, minLength: 1 });

export const givenName = Type.String({
  description: "Display name",
  minLength: 1,
  maxLength: LIMITS.nameLength,
});

/** Optional; null means the same as absent, because clients send both. */
export const optionalText = (description: string) =>
  Type.Optional(Type.Unsafe<string | number | null>({ type: ["string", "number", "null"], description }));

export const optionalNumber = (description: string) =>
  Type.Optional(Type.Unsafe<number | null>({ type: ["number", "null"], description }));

/** Clients with numeric ids send numbers; the digits are the id. */
export const clientId = (words: Words = { description: "Unique user id, 1 to 128 characters" }) =>
  Type.Unsafe<string | number>({ type: ["string", "number"], minLength: 1, maxLength: 128, ...words });

export const accessToken = Type.Optional(Type.String({ description: "Access token of the app" }));

/** A structure whose keys depend on the platform or the SDK. PHP writes an empty one as []. */
export const optionalStruct = (description: string) =>
  Type.Optional(Type.Unsafe<object | null>({ type: ["object", "array", "null"], maxItems: 0, description }));

/** One of a closed list. */
export const choice = <Choice extends string>(choices: readonly Choice[], description: string) =>
  Type.Unsafe<Choice>({ type: "string", enum: [...choices], description });

/** Texts by name. */
export const table = (description: string) =>
  Type.Unsafe<Record<string, string>>({ type: "object", additionalProperties: { type: "string" }, description });
