import type { Platforms } from "../../../sim/platforms/platforms.ts";
import { but } from "../calls.ts";
import { type PlatformCall, posted, type Sent, YESTERDAY } from "./call.ts";

const REPORT_PAGE = "developer.apple.com apple-ads-platform-api: reports, calling-apple-ads-platform-api";

const REPORT = {
  timeRange: { start: YESTERDAY, end: YESTERDAY, granularity: "DAILY" },
  filters: [{ field: "campaignId", operator: "IN", value: ["711", "712"] }],
  pagination: { offset: 0, pageSize: 1000 },
};

function report({ asa }: Platforms, body: object, context: Record<string, string>): Sent {
  const headers = { Authorization: `Bearer ${asa.tokens.accessToken}`, ...context };
  return posted(`${asa.url}/v1/reports/apps/campaigns/query`, body, headers);
}

const CONTEXT = { "X-AP-Context": "adAccountId=123" };

export const APPLE_CALLS: readonly PlatformCall[] = [
  {
    shows: "the spend of two campaigns, as decimal texts with their currency",
    mark: "certain",
    source: REPORT_PAGE,
    send: (platforms) => report(platforms, REPORT, CONTEXT),
    answer: {
      status: 200,
      json: {
        result: {
          rows: [
            { metadata: { id: 711 }, totalMetrics: { localSpend: { amount: "10.00", currency: "USD" } } },
            { metadata: { id: 712 }, totalMetrics: { localSpend: { amount: "2.50" } } },
          ],
        },
      },
    },
  },
  {
    shows: "a report without the account's context",
    mark: "certain",
    source: REPORT_PAGE,
    send: (platforms) => report(platforms, REPORT, {}),
    answer: { status: 403, json: { error: { code: "PERMISSION_DENIED" } } },
  },
  {
    shows: "a report without a time range",
    mark: "certain",
    source: REPORT_PAGE,
    send: (platforms) => report(platforms, but(REPORT, "timeRange", undefined), CONTEXT),
    answer: { status: 400, json: { error: { code: "INVALID_ARGUMENT" } } },
  },
];
