import type { RequestText } from "../../contract/admin/console-report.ts";
import { signedRequest } from "../../domain/access/report-sign.ts";

const PATH = "/openapi/api/v1/report/combo_sql/";
/** Placeholders for the holder of the key to replace. README shows how to compute the values. */
const PLACEHOLDERS = { sign: "<SIGN>", authorization: "<TOKEN>" };

/** The public call that gives the same report, as text to copy. */
export function requestText(body: object, { baseUrl, appKey }: { baseUrl: string; appKey?: string }): RequestText {
  const request = appKey === undefined ? unsigned(body) : signedRequest(body, appKey);
  return {
    is_signed: appKey !== undefined,
    curl: [
      `curl -sS ${quoted(`${baseUrl}${PATH}`)}`,
      `-H ${quoted(`Authorization: ${request.authorization}`)}`,
      "-H 'Content-Type: application/json'",
      `--data-raw ${quoted(request.body)}`,
    ].join(" \\\n  "),
    node: nodeText(body, baseUrl),
    body: JSON.stringify(body, null, 2),
  };
}

function unsigned(body: object): { body: string; authorization: string } {
  const { sign, authorization } = PLACEHOLDERS;
  return { body: JSON.stringify({ ...body, sign }), authorization };
}

function nodeText(body: object, baseUrl: string): string {
  return `import { ReportClient } from "touchpoint/client";

const client = new ReportClient({ baseUrl: ${JSON.stringify(baseUrl)}, appKey: "<APP_KEY>" });
const report = await client.adReport(${JSON.stringify(body, null, 2)});
console.table(report.items);
`;
}

/** The text as a single shell word. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
