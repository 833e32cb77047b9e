import { CURRENCY_FIELD } from "./account-fields.ts";
import type { AccountField, CallContext, HttpRequest } from "./connector.ts";
import { jsonPost } from "./request.ts";

/** The fields of a mini-game that shows a platform's ads: the account is the game, and its secret gets the tokens. */
export function publisherFields(baseUrl: { hint: string; fallback: string }): readonly AccountField[] {
  return [
    { name: "base_url", ...baseUrl },
    { name: "app_secret", hint: "AppSecret of the mini-game, which gets access tokens", fallback: "", isSecret: true },
    { name: "access_token", hint: "Access token; renewed with the AppSecret", fallback: "", isSecret: true },
    CURRENCY_FIELD,
  ];
}

/** Asks for a token with the game's id and secret, without which there is none. */
export function secretTokenRequest(path: string): (context: CallContext) => HttpRequest | undefined {
  return ({ account }) => {
    const [appid, secret] = [account("advertiser_id"), account("app_secret")];
    if (!appid || !secret) return undefined;
    return jsonPost(`${account("base_url")}${path}`, { grant_type: "client_credential", appid, secret });
  };
}
