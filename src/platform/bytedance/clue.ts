import { hash } from "node:crypto";
import type { JsonObject } from "../../domain/json.ts";
import { cleanValue } from "../../domain/user/identity.ts";
import type { AccountField, AccountSettings, CallContext, Conversion, Prepared } from "../connector/connector.ts";
import { lack, secondsOf, skip } from "../connector/prepared.ts";
import { encoded, jsonPost, withQuery } from "../connector/request.ts";
import type { Answer } from "../connector/verdict.ts";
import { fieldsOf } from "../platform.ts";

/** The gateway for WeChat mini-games advertised on Ocean Engine, which identifies users by their open id. */
export const CLUE_FIELDS: readonly AccountField[] = [
  { name: "gateway_id", hint: "The gateway for WeChat mini-games, from the console.", fallback: "" },
  { name: "gateway_token", hint: "The gateway's token.", fallback: "", isSecret: true },
  {
    name: "clue_url",
    hint: "Address of the gateway; its id is appended.",
    fallback: "https://clue.oceanengine.com/outer/wechat/applet/token/",
  },
];

const NEEDED = ["gateway_id", "gateway_token"];

export function hasClueGateway({ adData }: Conversion, account: AccountSettings): boolean {
  return fieldsOf(adData)("clue_token") !== "" && !lack(account, NEEDED);
}

export function byClueGateway(conversion: Conversion, context: CallContext, code: string): Prepared {
  const { account, nowMs, nonce } = context;
  const lacking = lack(account, NEEDED);
  if (lacking) return lacking;
  const { adData, user, cents } = conversion;
  const clueToken = fieldsOf(adData)("clue_token");
  if (clueToken === "") return skip("The launch brought no clue_token.");
  if (user.wxOpenid === "") return skip("The user's open id is not known.");
  const timestamp = String(secondsOf(nowMs));
  const signature = hash("sha1", [account("gateway_token"), timestamp, nonce].sort().join(""));
  const base = account("clue_url").replace(/\/*$/, "/");
  const url = withQuery(base + encoded(account("gateway_id")), { timestamp, nonce, signature });
  const request = jsonPost(url, {
    clue_token: clueToken,
    open_id: user.wxOpenid,
    ...(user.wxUnionid !== "" && { union_id: user.wxUnionid }),
    event_type: code,
    ...(cents !== null && { props: { pay_amount: cents } }),
  });
  return { kind: "request", dedupes: false, request };
}

/**
 * The documentation mentions a status but not which value means success. The usual ones count as success, and any other
 * is final: the gateway does not dedupe, so a retry could count twice.
 */
export function readClueReply(body: JsonObject): Answer {
  const [code, text] = [cleanValue(body.status), cleanValue(body.message)];
  const isTaken = ["0", "200"].includes(code) || text.toLowerCase() === "success";
  return { code, text, kind: isTaken ? "accepted" : "permanent" };
}
