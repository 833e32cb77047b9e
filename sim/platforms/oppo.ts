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
const ATTRIBUTED_BY_ADVERTISER = 1;
/** Likely: a caller reads this status as a signature that does not verify. */
const BAD_SIGNATURE = 403;
/** Certain: one of the three says who it was. */
const DEVICE_IDS = ["ouId", "imei", "androidId"] as const;

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
      refusal: ({ message, code }) => answer({ ret: code ?? 1, msg: message }, code ?? 200),
      busy: answer({ ret: 500, msg: "system busy" }),
      badToken: answer({ ret: BAD_SIGNATURE, msg: "signature is invalid" }, BAD_SIGNATURE),
    },
    take(call, desk) {
      assertSignature(call, salt);
      const body = jsonBody(call);
      const name = DEVICE_IDS.find((id) => body[id] !== undefined) ?? "ouId";
      const key = decrypted(textAt(body, name), { name, aesKey });
      if (!desk.isKey(key)) throw new Refusal(`${name} is unknown`);
      textAt(body, "pkg");
      const dataType = wholeAt(body, "dataType");
      if (!DATA_TYPES.has(dataType)) throw new Refusal(`dataType ${dataType} is unknown`);
      const atMs = millisAt(body, "timestamp");
      // Certain: another maker, OPPO or OnePlus; no hash, of the IMEI or of the OAID; other, app, game or quick app.
      wholeAt(body, "channel", { max: 2 });
      wholeAt(body, "type", { max: 2 });
      wholeAt(body, "appType", { max: 3 });
      // Certain: attributed by OPPO unless said otherwise; by the advertiser with the ad; or assisted.
      const ascribed = optionalWhole(body, "ascribeType", { max: 2 }) ?? 0;
      if (ascribed === ATTRIBUTED_BY_ADVERTISER) idAt(body, "adId");
      const clientIp = optionalText(body, "clientIp");
      if (clientIp !== "" && isIP(clientIp) === 0) throw new Refusal("clientIp is not an address");
      // Certain: fen.
      const cents = optionalWhole(body, "payAmount");
      desk.accept(call, { key, code: String(dataType), dedupeId: "", orderId: "", cents, atMs, sameBy: "" });
      return answer({ ret: 0, msg: "success" });
    },
  };
}

function assertSignature({ headers, body }: Call, salt: string): void {
  const { timestamp, signature } = headers;
  if (typeof timestamp !== "string" || !/^\d{13}$/.test(timestamp))
    throw new Refusal("timestamp is not in milliseconds", BAD_SIGNATURE);
  if (signature !== createHash("md5").update(`${body}${timestamp}${salt}`).digest("hex"))
    throw new Refusal("signature does not verify", BAD_SIGNATURE);
}

function decrypted(text: string, { name, aesKey }: { name: string; aesKey: string }): string {
  try {
    const decipher = createDecipheriv("aes-128-ecb", Buffer.from(aesKey, "base64"), null);
    const id = decipher.update(text, "base64", "utf8") + decipher.final("utf8");
    if (/^[\x21-\x7e]+$/.test(id)) return id;
  } catch {
    throw new Refusal(`${name} does not decrypt`);
  }
  throw new Refusal(`${name} is not an id once decrypted`);
}
