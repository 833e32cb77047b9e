import { CODES, REJECTIONS } from "../../errors.ts";
import { type OpenApi, sectionsOf } from "../../http/docs-page.ts";
import { CLOCK_S_MAX } from "../../http/report/report-access.ts";
import { KIB, LIMITS } from "../../limits.ts";

/** docs/API.md, whole: made from the schemas that validate and the lists that answer, so it cannot go out of date. */
export function apiMarkdown(openApi: OpenApi): string {
  const codes = Object.values(CODES).map(({ code, status, meaning }) => `| ${code} | ${status} | ${meaning} |`);
  const sections = sectionsOf(openApi).map((section) =>
    [
      `## ${section.title}`,
      `\`${section.call}\``,
      section.text,
      section.fields.length === 0
        ? ""
        : [
            "| Field | In | Type | Required | Rule |",
            "|---|---|---|---|---|",
            ...section.fields.map(
              ({ name, where, type, required, rule }) =>
                `| \`${name}\` | ${where} | ${type} | ${required ? "yes" : "no"} | ${rule.replaceAll("|", "\\|")} |`,
            ),
          ].join("\n"),
    ]
      .filter((part) => part !== "")
      .join("\n\n"),
  );
  return `${[
    "# Interface",
    "<!-- Made by `npm run -s cli -- docs api`; a test compares it with the running server. -->",
    INTRODUCTION,
    ["| Code | HTTP status | Meaning |", "|---|---|---|", ...codes].join("\n"),
    EVENT_RULES,
    SIGN_RULES,
    ...sections,
  ].join("\n\n")}\n`;
}

const INTRODUCTION = `Paths work with and without a trailing slash. Bodies are JSON whatever their Content-Type says. Collection
endpoints also take gzip, announced by \`Gravity-Content-Compress: gzip\` or \`Content-Encoding: gzip\`, and a browser beacon's
multipart field \`data\` with the base64 of the JSON. The largest bodies: event/collect \`BODY_BYTES_MAX\` on the wire and
\`BODY_UNPACKED_BYTES_MAX\` unpacked, other collection endpoints ${LIMITS.userBodyBytes / 1024} KiB, reports ${LIMITS.reportBodyBytes / 1024} KiB, settings
${LIMITS.settingsBodyBytes / 1024} KiB, sign-in ${LIMITS.signInBodyBytes / 1024} KiB. Keys that an operation does not know are ignored. Collection endpoints answer browsers of any origin.

Every answer is the envelope \`{"code", "msg", "data", "extra"}\`. A refusal has HTTP status 200 too, because the SDKs take
any other status for a fault of the network and send again; \`extra.error\` repeats its \`msg\`.`;

const EVENT_RULES = `Each event of event/collect is judged by itself. What is not stored, or not stored as sent, stands in \`extra.errors\`
with its \`index\`, \`event\`, \`reason\` and a \`message\`, while \`code\` stays 0. Reasons: ${REJECTIONS.map((reason) => `\`${reason}\``).join(", ")};
and \`bad_property\`, when the event was stored without that property or with its text cut. Names: letters, digits and \`_\`,
at most 50 characters, \`$\` only for presets. A text has at most ${LIMITS.propertyTextBytes} bytes, a list ${LIMITS.propertyListLength} texts, a number 13 digits before the
point, a value of any type ${LIMITS.propertyBytes / KIB} KiB as JSON, a user's whole profile ${LIMITS.profileProperties} properties and ${LIMITS.profileBytes / KIB} KiB. What one event brings
beyond that is told; what a profile has no room for after many events is left out later, and counted in
\`touchpoint_profile_left_out_total\`. \`time\` lies between 10 days before and 1 hour after server time unless \`time_free\` is true. \`client_id\` has 1 to
${LIMITS.clientIdLength} characters; a number is taken as its digits. An event is stored once however often it is sent; an order is stored
once per \`$order_id\` (else \`$trace_id\`), whoever reports it. Amounts are whole cents, \`$ecpm\` is major units per thousand.`;

const SIGN_RULES = `A report's \`sign\`: each top-level field of the body but \`sign\` becomes \`name=\` and its value as compact JSON with sorted keys;
these texts are sorted, joined by \`&\`, the developer application's \`app_key\` is put behind them, every quote and blank is taken
out, and the MD5 of that in lower hex is the sign. \`Authorization\` is a JSON Web Token, HS256, whose key is the sign's text and whose
claim \`app_key\` names the key. This is what the interface asks for, and it does not protect everything. The token holds the
\`app_key\` in clear text: without TLS, whoever listens can sign reports too. Whoever has recorded a call can send it again, within
the rate: a claim \`exp\` (seconds since 1970) ends that, and \`nbf\` says from when on; both are honoured with ${CLOCK_S_MAX} s of grace. The
client \`touchpoint/client\` sets \`exp\` when it is given \`tokenLifeS\`, and its \`signedRequest\` makes both texts.`;
