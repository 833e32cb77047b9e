import { type Static, Type } from "typebox";
import { ROLES } from "../../domain/access/role.ts";
import { LIMITS } from "../../limits.ts";
import { choice, givenName } from "../fields.ts";
import { code, currentPassword } from "./session.ts";

const DAYS_DEFAULT = 90;

const id = Type.Integer({ description: "Id of the token", minimum: 1, maximum: LIMITS.tableInteger });
const role = choice(ROLES, "What the token may do, at most what its owner may do when it is used");
const apps = Type.Unsafe<"all" | number[]>({
  anyOf: [
    { type: "array", items: { type: "integer", minimum: 1 }, minItems: 1, maxItems: LIMITS.grantsPerPerson },
    { type: "string", enum: ["all"] },
  ],
  description: "`all`, or a list of application ids",
});

export const apiTokenBody = Type.Object({
  name: givenName,
  role,
  apps,
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMITS.apiTokenDays,
      default: DAYS_DEFAULT,
      description: `Days until it ends, at most ${LIMITS.apiTokenDays}; default ${DAYS_DEFAULT}`,
    }),
  ),
});
export type ApiTokenBody = Static<typeof apiTokenBody>;

/** The same from a person, who proves to be the one who has signed in. */
export const provenTokenBody = Type.Object({
  ...apiTokenBody.properties,
  password: currentPassword,
  code: Type.Optional(code),
});

export const apiTokenIdBody = Type.Object({ id });

const instant = (description: string) =>
  Type.Unsafe<number | null>({ type: ["integer", "null"], description: `${description}, ms; null: never` });

const shownApiToken = Type.Object({
  id,
  name: Type.String(),
  prefix: Type.String({ description: "The beginning of the token" }),
  owner: Type.String({ description: "The person who made it; empty: the command line" }),
  role,
  apps,
  state: choice(["valid", "ended", "revoked"], "Whether it can be used"),
  created_at_ms: Type.Integer(),
  ends_at_ms: Type.Integer({ description: "From then on it is refused, ms" }),
  used_at_ms: instant("When it was last used, to the minute"),
});
export type ShownApiToken = Static<typeof shownApiToken>;

export const apiTokenList = Type.Object({
  tokens: Type.Array(shownApiToken, { description: "Those that can be used first, then the newest" }),
  days_max: Type.Integer({ description: "How long a token may last" }),
});
export type ApiTokenList = Static<typeof apiTokenList>;

export const madeApiToken = Type.Object({
  ...shownApiToken.properties,
  token: Type.String({ description: "For the header `Authorization: Bearer …`. Shown only now" }),
});
export type MadeApiToken = Static<typeof madeApiToken>;
