import { createDecipheriv, createHash, randomBytes } from "node:crypto";
import { isIP } from "node:net";
import {
  answer,
  type Call,
  idAt,
  jsonBody,
  millisAt,
  optionalText,
  optionalWhole,
  Refusal,
  textAt,
  wholeAt,
} from "./call.ts";
import { type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";
import { randomText } from "./tokens.ts";

export type OppoOptions = StandInOptions & { salt?: string /** 16 bytes in base64. */; aesKey?: string };
export type OppoStandIn = StandIn & { salt: string; aesKey: string };

const DATA_TYPES: ReadonlySet<number> = new Set([1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 15, 20]);
const ATTRIBUTED_BY_AD = 1;

export async function startOppo(options: OppoOptions = {}): Promise<OppoStandIn> {
  const { salt = randomText(), aesKey = randomBytes(16).toString("base64") } = options;
  const standIn = await startStandIn("oppo", { ...options, routes: [uploadRoute({ salt, aesKey })] });
  return Object.assign(standIn, { salt, aesKey });
}

function uploadRoute({ salt, aesKey }: { salt: string; aesKey: string }): Route {
  return {
    methods: ["POST"],
    path: "/api/uploadActiveData",
    dialect: {
      refusal: ({ message }) => answer({ ret: 1, msg: message }),
      busy: answer({ ret: 500, msg: "system busy" }),
      badToken: answer({ ret: 401, msg: "signature is invalid" }),
    },
    take(call, desk) {
      assertSignature(call, salt);
      const body = jsonBody(call);
      const key = oaidOf(textAt(body, "ouId"), aesKey);
      if (!desk.isKey(key)) throw new Refusal("ouId is unknown");
      textAt(body, "pkg");
      const dataType = wholeAt(body, "dataType");
      if (!DATA_TYPES.has(dataType)) throw new Refusal(`dataType ${dataType} is unknown`);
      const atMs = millisAt(body, "timestamp");
      wholeAt(body, "channel", { min: 1, max: 1 });
      wholeAt(body, "type", { max: 2 });
      optionalWhole(body, "appType");
      if (wholeAt(body, "ascribeType", { max: 2 }) === ATTRIBUTED_BY_AD) idAt(body, "adId");
      const clientIp = optionalText(body, "clientIp");
      if (clientIp !== "" && isIP(clientIp) === 0) throw new Refusal("clientIp is not an address");
      const cents = optionalWhole(body, "payAmount");
      desk.accept(call, { key, code: String(dataType), dedupeId: "", orderId: "", cents, atMs, sameBy: "" });
      return answer({ ret: 0, msg: "success" });
    },
  };
}

function assertSignature({ headers, body }: Call, salt: string): void {
  const { timestamp, signature } = headers;
  if (typeof timestamp !== "string" || !/^\d{13}$/.test(timestamp))
    throw new Refusal("timestamp is not in milliseconds");
  if (signature !== createHash("md5").update(`${body}${timestamp}${salt}`).digest("hex"))
    throw new Refusal("signature does not verify");
}

function oaidOf(ouId: string, aesKey: string): string {
  try {
    const decipher = createDecipheriv("aes-128-ecb", Buffer.from(aesKey, "base64"), null);
    const oaid = decipher.update(ouId, "base64", "utf8") + decipher.final("utf8");
    if (/^[\x21-\x7e]+$/.test(oaid)) return oaid;
  } catch {
    throw new Refusal("ouId does not decrypt");
  }
  throw new Refusal("ouId is not an id once decrypted");
}
