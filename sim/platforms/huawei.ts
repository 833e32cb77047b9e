import { answer, type Fields, jsonBody, optionalText, Refusal } from "./call.ts";
import { type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";

const ACTION_TYPES: ReadonlySet<string> = new Set([1, 2, 3, 4, 7, 18, 101, 102].map(String));

export function startHuawei(options: StandInOptions = {}): Promise<StandIn> {
  return startStandIn("huawei", { ...options, routes: [UPLOAD] });
}

/** Only the list of action types is known of this interface, so that nothing else is judged, the path included. */
const UPLOAD: Route = {
  methods: ["POST"],
  path: "",
  dialect: {
    refusal: ({ message }) => answer({ resultCode: 1, resultMessage: message }),
    busy: answer({ resultCode: 500, resultMessage: "system busy" }),
    badToken: answer({ resultCode: 401, resultMessage: "authorization is invalid" }, 401),
  },
  take(call, desk) {
    const body = jsonBody(call);
    const code = String(body.actionType);
    if (!ACTION_TYPES.has(code)) throw new Refusal(`actionType ${code} is unknown`);
    desk.accept(call, {
      key: keyOf(body),
      code,
      dedupeId: "",
      orderId: "",
      cents: null,
      atMs: timeOf(body) ?? call.nowMs,
      sameBy: "",
    });
    return answer({ resultCode: 0, resultMessage: "success" });
  },
};

function keyOf(body: Fields): string {
  const names = ["callback", "requestId", "oaid", "userId"];
  return names.map((name) => optionalText(body, name)).find((text) => text !== "") ?? "";
}

/** Seconds or milliseconds, by the number of digits. */
function timeOf(body: Fields): number | undefined {
  const digits = String(body.actionTime ?? "");
  if (/^\d{13}$/.test(digits)) return Number(digits);
  return /^\d{10}$/.test(digits) ? Number(digits) * 1000 : undefined;
}
