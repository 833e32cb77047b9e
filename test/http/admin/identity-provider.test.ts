import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { IdentityProvider } from "../../../src/outbound/identity-provider.ts";
import { StandInProvider } from "../../support/identity-provider.ts";

let stand: StandInProvider;
const REDIRECT = "https://console.example/console/signed-in";

beforeAll(async () => {
  stand = await StandInProvider.start();
});
afterAll(() => stand.stop());
beforeEach(() => {
  stand.fault = "none";
});

const made: IdentityProvider[] = [];
afterAll(() => {
  for (const one of made) one.close();
});

function providerOf(env: Record<string, string> = {}): IdentityProvider {
  const provider = new IdentityProvider(readConfig({ ...stand.env, ...env }).oidc!);
  made.push(provider);
  return provider;
}

test("the address of the provider's page holds everything that binds the answer to this browser", async () => {
  const { url, pending } = await providerOf({ OIDC_SCOPES: "openid email groups" }).begin(REDIRECT);
  const asked = Object.fromEntries(new URL(url).searchParams);
  expect(asked).toMatchObject({
    client_id: "touchpoint",
    redirect_uri: REDIRECT,
    response_type: "code",
    scope: "openid email groups",
    state: pending.state,
    nonce: pending.nonce,
    code_challenge_method: "S256",
  });
  expect(url).not.toContain(pending.verifier);
  const again = await providerOf().begin(REDIRECT);
  expect(new Set([pending.state, pending.nonce, again.pending.state, again.pending.nonce]).size).toBe(4);
});

test("the provider is asked once what it offers, and again after a failure", async () => {
  const provider = providerOf();
  stand.fault = "redirects";
  await expect(provider.begin(REDIRECT)).rejects.toMatchObject({ reason: "badSign" });
  stand.fault = "huge";
  await expect(provider.begin(REDIRECT)).rejects.toThrow(/does not answer: The answer is too long/);
  stand.fault = "none";
  const before = stand.calls.length;
  await provider.begin(REDIRECT);
  await provider.begin(REDIRECT);
  expect(stand.calls.slice(before)).toEqual(["/.well-known/openid-configuration"]);
});

test("a provider that cannot be reached is told apart from one that refuses", async () => {
  const away = providerOf({ OIDC_ISSUER: "http://127.0.0.1:9" });
  await expect(away.begin(REDIRECT)).rejects.toMatchObject({ reason: "overloaded" });
  await expect(away.begin(REDIRECT)).rejects.toThrow(/does not answer: The connection failed \(ECONNREFUSED\)/);
});

test.each([
  ["an issuer over plain HTTP elsewhere", { OIDC_ISSUER: "http://login.example" }, /OIDC_ISSUER.*https/],
  ["an issuer without a client", { OIDC_CLIENT_ID: "" }, /OIDC_CLIENT_ID: must be set/],
  ["scopes without openid", { OIDC_SCOPES: "email" }, /OIDC_SCOPES.*openid/],
  ["roles that are no JSON", { OIDC_ROLES: "bi=analyst" }, /OIDC_ROLES.*must be JSON/],
  ["a role that there is not", { OIDC_ROLES: '{"bi": "owner"}' }, /"bi" must have roles/],
  ["new people without roles", { OIDC_PEOPLE: "create" }, /OIDC_ROLES: must be set/],
  ["no way to sign in", { OIDC_ISSUER: "", PASSWORD_SIGN_IN: "off" }, /PASSWORD_SIGN_IN: must be on/],
])("%s is refused at the start", (_, env, sentence) => {
  expect(() => readConfig({ ...stand.env, ...(env as Record<string, string>) })).toThrow(sentence);
});

test("a refused setting does not repeat the secret", () => {
  const read = () => readConfig({ ...stand.env, OIDC_SCOPES: "x", OIDC_CLIENT_SECRET: "very secret" });
  expect(read).toThrow(/OIDC_SCOPES/);
  expect(read).not.toThrow(/very secret/);
});
