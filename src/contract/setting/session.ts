import { type Static, Type } from "typebox";
import { ROLES } from "../../domain/access/role.ts";
import type { JsonObject } from "../../domain/json.ts";
import { LIMITS } from "../../limits.ts";
import { choice } from "../fields.ts";

const name = Type.String({ minLength: 1, maxLength: 100, description: "Name to sign in with" });
const password = Type.String({ minLength: 1, maxLength: 1_000 });
const role = choice(
  ROLES,
  "Each role may do what the ones before it may. viewer: reports; analyst: also users, orders, exports, settings and logs, but " +
    "no secrets; operator: also costs, campaigns, imports and postbacks; admin: everything",
);

/** A role for an app. */
export const grant = Type.Object({
  app_id: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    minimum: 1,
    maximum: LIMITS.tableInteger,
    description: "null: all apps, also those to come",
  }),
  role,
});
export type ShownGrant = Static<typeof grant>;

const grants = Type.Array(grant, { description: "The roles; of several for an app the strongest counts" });
const givenGrants = Type.Array(grant, { ...grants, minItems: 1, maxItems: LIMITS.grantsPerPerson });

export const signInBody = Type.Object({ name, password });

export const setupBody = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 200, description: "Token of the one-time link" }),
  name: Type.Optional(name),
  password,
});

export const passwordBody = Type.Object({ password, new_password: password });

export const consoleUserBody = Type.Object({ name, grants: givenGrants });

export const consoleUserNameBody = Type.Object({ name });

export const auditQuery = Type.Object({
  app_id: Type.Optional(Type.String({ pattern: "^\\d{1,10}$", description: "Only entries of this app" })),
  before: Type.Optional(Type.String({ pattern: "^\\d{1,15}$", description: "Only entries before this one" })),
});

export const signedIn = Type.Object({
  name: Type.String(),
  grants,
  csrf: Type.String({
    description: "To be sent in the header `touchpoint-csrf` of every POST; empty for the admin token",
  }),
});
export type Session = Static<typeof signedIn>;

const consoleUser = Type.Object({
  name: Type.String(),
  grants,
  created_at_ms: Type.Integer({ description: "When the person was added, ms" }),
});
export type ConsoleUser = Static<typeof consoleUser>;

export const consoleUserList = Type.Object({ users: Type.Array(consoleUser) });
export type ConsoleUserList = Static<typeof consoleUserList>;

export const invitedUser = Type.Object({
  ...consoleUser.properties,
  setup_token: Type.String({ description: "Valid once, for 24 hours: open `/console/setup#` followed by the token" }),
});
export type InvitedUser = Static<typeof invitedUser>;

const auditEntry = Type.Object({
  id: Type.Integer(),
  at_ms: Type.Integer({ description: "When, ms" }),
  app_id: Type.Unsafe<number | null>({ type: ["integer", "null"], description: "null: no particular app" }),
  actor: Type.String({ description: "Who made the change" }),
  address: Type.String({ description: "Address of the caller" }),
  action: Type.String({ description: "The path that was called" }),
  details: Type.Unsafe<JsonObject>({ type: "object", description: "What was sent, without secrets" }),
});
export type AuditEntry = Static<typeof auditEntry>;

export const auditPage = Type.Object({
  entries: Type.Array(auditEntry),
  next_before: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    description: "`before` of the next page; null on the last page",
  }),
});
export type AuditPage = Static<typeof auditPage>;
