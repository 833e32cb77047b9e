import { systemClock } from "../clock.ts";
import type { OrderList, UserList } from "../contract/report/list-record.ts";
import { signedRequest } from "../domain/access/report-sign.ts";
import { CODES } from "../errors.ts";
import type { AdReport } from "../report/ad/ad-report.ts";
import type { AdReportBody } from "../report/ad/ad-report-request.ts";
import type { OrderListBody } from "../report/list/order-list.ts";
import type { UserListBody } from "../report/list/user-list.ts";

export type { AdReport, AdReportBody, OrderList, OrderListBody, UserList, UserListBody };
export { signedRequest };

export type MetricInfo = { name: string; label: string; cname: string; unit: string; tip: string };

/** A refusal by the server: its code, its message, and after how many seconds to try again, if the server says so. */
export class ReportError extends Error {
  readonly code: number;
  readonly retryAfterS: number | undefined;

  constructor(code: number, message: string, retryAfterS: number | undefined) {
    super(message);
    this.name = "ReportError";
    this.code = code;
    this.retryAfterS = retryAfterS;
  }
}

const TIMEOUT_MS = 120_000;

/**
 * Pulls reports as a developer application. It needs nothing but Node:
 *
 *   const client = new ReportClient({ baseUrl: "https://track.example.com", appKey });
 *   const report = await client.adReport({ app_id: 10000001, date_list: ["2026-11-01", "2026-11-15"], … });
 */
export class ReportClient {
  readonly #baseUrl: string;
  readonly #appKey: string;
  readonly #tokenLifeS: number | undefined;

  /** With `tokenLifeS`, a recorded call cannot be sent again after this many seconds; the clocks must then agree. */
  constructor(options: { baseUrl: string; appKey: string; tokenLifeS?: number }) {
    this.#baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.#appKey = options.appKey;
    this.#tokenLifeS = options.tokenLifeS;
  }

  adReport(body: AdReportBody): Promise<AdReport> {
    return this.#call<AdReport>("combo_sql", body);
  }

  orderList(body: OrderListBody): Promise<OrderList> {
    return this.#call<OrderList>("order/list", body);
  }

  userList(body: UserListBody): Promise<UserList> {
    return this.#call<UserList>("user/list", body);
  }

  async metrics(): Promise<MetricInfo[]> {
    return (await this.#call<{ list: MetricInfo[] }>("metrics/list", {})).list;
  }

  async #call<T>(path: string, body: object): Promise<T> {
    const lifeS = this.#tokenLifeS;
    const request = signedRequest(body, this.#appKey, {
      ...(lifeS !== undefined && { expiresAtMs: systemClock() + lifeS * 1000 }),
    });
    const response = await fetch(`${this.#baseUrl}/openapi/api/v1/report/${path}/`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: request.authorization },
      body: request.body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer = (await response.json()) as { code: number; msg: string; data: T };
    if (answer.code === CODES.ok.code) return answer.data;
    const retryAfter = response.headers.get("retry-after");
    throw new ReportError(answer.code, answer.msg, retryAfter === null ? undefined : Number(retryAfter));
  }
}
