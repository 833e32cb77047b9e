import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import type { AccountSettings, TokenFlow } from "../connector/connector.ts";
import { type Envelope, textOf } from "../connector/reply.ts";
import { tokenAnswerOf } from "../connector/token.ts";

const AUDIENCE = "https://appleid.apple.com";
/** Apple accepts up to half a year, but a secret is made for each call and used at once. */
const LIFE_S = 3_600;

/** A token lasts an hour and is requested with the account's own key: there is no refresh token. */
export const appleTokens: TokenFlow = {
  request: ({ account, nowMs }) => {
    const secret = clientSecretOf(account, Math.floor(nowMs / 1_000));
    if (secret === undefined) return undefined;
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: account("client_id"),
      client_secret: secret,
      scope: "searchadsorg",
    });
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    return { method: "POST", url: account("token_url"), headers, body: String(form) };
  },
  read: (reply, nowMs) =>
    tokenAnswerOf(reply, {
      envelope: ENVELOPE,
      nowMs,
      read: (body) => ({ accessToken: body.access_token, refreshToken: undefined, expiresInS: body.expires_in }),
    }),
};

const ENVELOPE: Envelope = {
  platform: "Apple",
  outcome: (body) => {
    const code = textOf(body.error);
    return code === "" ? "fine" : { code, message: textOf(body.error_description) };
  },
  kindOf: () => undefined,
};

function clientSecretOf(account: AccountSettings, nowS: number): string | undefined {
  const [clientId, teamId, keyId] = [account("client_id"), account("team_id"), account("key_id")];
  const key = keyOf(account("private_key"));
  if (!clientId || !teamId || !keyId || !key) return undefined;
  const header = { alg: "ES256", kid: keyId };
  const claims = { iss: teamId, sub: clientId, aud: AUDIENCE, iat: nowS, exp: nowS + LIFE_S };
  const content = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  const signature = sign("sha256", Buffer.from(content), { key, dsaEncoding: "ieee-p1363" });
  return `${content}.${signature.toString("base64url")}`;
}

/** A key that was pasted into one line may carry its line breaks as \n. */
function keyOf(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem.replaceAll("\\n", "\n"));
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : undefined;
  } catch {
    // An unreadable key counts as missing.
    return undefined;
  }
}
