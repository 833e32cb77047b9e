import { type Static, Type } from "typebox";
import { NEEDS, type Need, ROLES, type Role } from "../../domain/access/role.ts";
import type { JsonObject } from "../../domain/json.ts";
import { LIMITS } from "../../limits.ts";
import { choice } from "../fields.ts";

const name = Type.String({ minLength: 1, maxLength: LIMITS.personNameLength, description: "Name to sign in with" });
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

export type { Need, Role };

/** A role for an app, with what it allows, so that the console needs no rules of its own. */
const heldGrant = Type.Object({
  ...grant.properties,
  may: Type.Array(choice(NEEDS, "What the role allows")),
});
export type HeldGrant = Static<typeof heldGrant>;

const grants = Type.Array(grant, { description: "The roles; of several for an app the strongest counts" });
const givenGrants = Type.Array(grant, { ...grants, minItems: 1, maxItems: LIMITS.grantsPerPerson });

export const code = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "Code of the second factor, or a recovery code",
});

export const signInBody = Type.Object({ name, password, code: Type.Optional(code) });

export const setupBody = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 200, description: "Token of the one-time link" }),
  name: Type.Optional(name),
  password,
  code: Type.Optional(code),
});

export const passwordBody = Type.Object({ password, new_password: password });

export const signInWays = Type.Object({
  password: Type.Boolean({ description: "With a name and a password" }),
  oidc: Type.Unsafe<string | null>({
    type: ["string", "null"],
    description: "Name of the identity provider; null: none",
  }),
});
export type SignInWays = Static<typeof signInWays>;

export const begunOidc = Type.Object({ url: Type.String({ description: "The page of the identity provider" }) });
export type BegunOidc = Static<typeof begunOidc>;

export const oidcReturnBody = Type.Object({
  returned: Type.Unsafe<Record<string, string>>({
    type: "object",
    maxProperties: 20,
    additionalProperties: { type: "string", maxLength: 2_048 },
    description: "The query with which the identity provider has sent the person back",
  }),
});

export const signedOut = Type.Object({
  provider_url: Type.Unsafe<string | null>({
    type: ["string", "null"],
    description: "Page that ends the session at the identity provider; null: none is needed",
  }),
});
export type SignedOut = Static<typeof signedOut>;

export const codeBody = Type.Object({ code });

export const currentPassword = Type.Optional(
  Type.String({ maxLength: 1_000, description: "The current one; absent for who has none" }),
);

export const passwordOnlyBody = Type.Object({ password: currentPassword });

export const sessionIdBody = Type.Object({ id: Type.Integer({ minimum: 1, maximum: LIMITS.tableInteger }) });

const listedSession = Type.Object({
  id: Type.Integer(),
  address: Type.String({ description: "Address from which the person signed in" }),
  agent: Type.String({ description: "User agent of the browser" }),
  method: choice(["password", "link", "oidc"], "How the session began: `link` is a one-time link"),
  created_at_ms: Type.Integer(),
  seen_at_ms: Type.Integer({ description: "When it was last used, to the minute" }),
  is_current: Type.Boolean({ description: "The session of this call" }),
});
export type ShownSession = Static<typeof listedSession>;

export const sessionList = Type.Object({ sessions: Type.Array(listedSession, { description: "Latest first" }) });
export type SessionList = Static<typeof sessionList>;

export const endedSessions = Type.Object({ ended: Type.Integer({ description: "Sessions that ended" }) });

export const secondFactorState = Type.Object({
  is_on: Type.Boolean(),
  is_required: Type.Boolean({ description: "Whether a role of the person needs it" }),
  has_password: Type.Boolean({ description: "Whether the person can sign in with a password" }),
  recovery_codes_left: Type.Integer(),
});
export type SecondFactorState = Static<typeof secondFactorState>;

export const begunSecondFactor = Type.Object({
  secret: Type.String({ description: "To type into an authenticator app" }),
  uri: Type.String({ description: "The same as an `otpauth://` address, for a QR code" }),
});
export type BegunSecondFactor = Static<typeof begunSecondFactor>;

export const secondFactorCodes = Type.Object({
  recovery_codes: Type.Array(Type.String(), { description: "Each signs in once without the app. Shown only now" }),
});
export type SecondFactorCodes = Static<typeof secondFactorCodes>;

export const consoleUserBody = Type.Object({ name, grants: givenGrants });

export const consoleUserNameBody = Type.Object({ name });

export const auditQuery = Type.Object({
  app_id: Type.Optional(Type.String({ pattern: "^\\d{1,10}$", description: "Only entries of this app" })),
  before: Type.Optional(Type.String({ pattern: "^\\d{1,15}$", description: "Only entries before this one" })),
});

export const signedIn = Type.Object({
  name: Type.String(),
  grants: Type.Array(heldGrant, { description: "The roles; of several for an app the strongest counts" }),
  needs_second_factor: Type.Boolean({
    description:
      "A role of the person needs the second factor, which is not set up: nothing else is allowed until it is",
  }),
  csrf: Type.String({
    description: "To be sent in the header `touchpoint-csrf` of every POST; empty for the admin token",
  }),
});
export type Session = Static<typeof signedIn>;

const consoleUser = Type.Object({
  name: Type.String(),
  grants,
  has_second_factor: Type.Boolean(),
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
