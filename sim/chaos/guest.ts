import { signedRequest } from "../../src/client/report-client.ts";
import { systemClock } from "../../src/clock.ts";
import { type App, insertApp } from "../../src/db/app.ts";
import { createDeveloperApp, decideDeveloperApp } from "../../src/db/developer-app.ts";
import { openVault } from "../../src/vault.ts";
import type { Site } from "./site.ts";

export type Answer = { status: number; code: number; msg: string; data: Record<string, unknown>; extra: Extra };
type Extra = { errors?: { index: number; reason: string }[]; error?: string };

/** An app beside the market's own, for calls that no real client would make: its users are not part of the truth. */
export class Guest {
  readonly app: App;
  readonly appKey: string;
  readonly developers: readonly number[];
  readonly #url: string;

  private constructor(url: string, parts: { app: App; appKey: string; developers: readonly number[] }) {
    this.#url = url;
    this.app = parts.app;
    this.appKey = parts.appKey;
    this.developers = parts.developers;
  }

  static async invite({ pool, dataDir, url, timeZone }: Site): Promise<Guest> {
    const vault = openVault({ dataDir, secretKey: "" });
    const nowMs = systemClock();
    const app = await insertApp(pool, vault, { name: "Guest", timeZone, metadataMode: "open", createdAtMs: nowMs });
    const developer = async () => {
      const made = await createDeveloperApp(pool, vault, {
        name: "Guest",
        purpose: "",
        apps: [app.appId],
        rate: { calls: 1_000, windowS: 1 },
        createdAtMs: nowMs,
      });
      await decideDeveloperApp(pool, { ...made, state: "approved", reason: "", decidedAtMs: nowMs });
      return made;
    };
    const [first, ...spare] = [await developer(), await developer(), await developer()];
    return new Guest(url, { app, appKey: first!.appKey, developers: spare.map(({ developerId }) => developerId) });
  }

  /** POST to a collection endpoint. */
  async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(
      `${this.#url}/event_center/api/v1/${path}?access_token=${encodeURIComponent(this.app.accessToken)}`,
      {
        method: "POST",
        body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
        headers,
      },
    );
    return { status: response.status, ...((await response.json()) as Omit<Answer, "status">) };
  }

  /** Makes a signed report call, padded to this many bytes. */
  async report(path: string, body: object, bytes = 0): Promise<Answer> {
    const signed = signedRequest(body, this.appKey);
    const response = await fetch(`${this.#url}/openapi/api/v1/report/${path}/`, {
      method: "POST",
      body: signed.body.padEnd(bytes, " "),
      headers: { "content-type": "application/json", authorization: signed.authorization },
    });
    return { status: response.status, ...((await response.json()) as Omit<Answer, "status">) };
  }

  async register(clientId: string, more: object = {}): Promise<Answer> {
    return this.post("user/register/", { client_id: clientId, name: "n", channel: "c", version: 1, ...more });
  }
}
