import { Type } from "typebox";

const name = Type.String({ minLength: 1, maxLength: 100, description: "Name to sign in with" });
const password = Type.String({ minLength: 1, maxLength: 1_000 });
const role = Type.Unsafe<"admin" | "analyst">({ type: "string", enum: ["admin", "analyst"] });

export const signInBody = Type.Object({ name, password });

export const setupBody = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 200, description: "Of the one-time link" }),
  name: Type.Optional(name),
  password,
});

export const passwordBody = Type.Object({ password, new_password: password });

export const consoleUserBody = Type.Object({ name, role });

export const consoleUserNameBody = Type.Object({ name });

export const auditQuery = Type.Object({
  app_id: Type.Optional(Type.String({ pattern: "^\\d{1,10}$", description: "Only of this app" })),
  before: Type.Optional(Type.String({ pattern: "^\\d{1,15}$", description: "Only entries before this one" })),
});
