import { afterAll, beforeAll } from "vitest";
import { linksOf } from "../../sim/platforms/authorise-page.ts";
import { startBaidu } from "../../sim/platforms/baidu.ts";
import type { CostOptions } from "../../sim/platforms/costs.ts";
import { startKuaishou } from "../../sim/platforms/kuaishou.ts";
import { startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import type { StandIn } from "../../sim/platforms/stand-in.ts";
import { startTencent } from "../../sim/platforms/tencent.ts";
import type { Tokens } from "../../sim/platforms/tokens.ts";
import { createApp } from "../../src/admin/apps.ts";
import { beginAuthorising, returnAuthorised } from "../../src/admin/setting/authorisations.ts";
import { chooseAuthorised } from "../../src/admin/setting/authorised-accounts.ts";
import type { ReturnedAuthorisation } from "../../src/contract/setting/authorisation.ts";
import { Sender } from "../../src/outbound/sender.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { DeskStage } from "./desk-stage.ts";

export const REDIRECT = "https://console.example/console/authorised";

type Values = Record<string, string>;
type Access = { settings: Values; secrets: Values };
export type Side = StandIn & { tokens: Tokens; access: Access };
type SideOptions = CostOptions & { clock: () => number; workbenches?: Record<string, string[]> };

/** Each platform's side, and the fields with which a developer application reaches it. */
export const SIDES = {
  bytedance: async (options: SideOptions): Promise<Side> => {
    const sim = await startOceanEngine({ ...options, redirects: [REDIRECT] });
    const urls = {
      base_url: `${sim.url}/open_api`,
      oauth_url: `${sim.url}/open_api/oauth2`,
      authorise_url: `${sim.url}/openapi/audit/oauth.html`,
    };
    return sideOf(sim, { settings: { ...urls, app_id: sim.appId }, secrets: { app_secret: sim.secret } });
  },
  tencent: async (options: SideOptions): Promise<Side> => {
    const sim = await startTencent({ ...options, redirects: [REDIRECT] });
    const urls = { base_url: sim.url, authorise_url: `${sim.url}/oauth/authorize` };
    return sideOf(sim, {
      settings: { ...urls, client_id: sim.clientId },
      secrets: { client_secret: sim.clientSecret },
    });
  },
  kuaishou: async (options: SideOptions): Promise<Side> => {
    const sim = await startKuaishou({ ...options, redirects: [REDIRECT] });
    const urls = { base_url: `${sim.url}/rest/openapi`, authorise_url: `${sim.url}/tools/authorize` };
    return sideOf(sim, { settings: { ...urls, app_id: sim.appId }, secrets: { app_secret: sim.secret } });
  },
  baidu: async (options: SideOptions): Promise<Side> => {
    const sim = await startBaidu({ ...options, redirects: [REDIRECT] });
    const urls = {
      base_url: sim.url,
      oauth_url: `${sim.url}/oauth`,
      authorise_url: `${sim.url}/oauth/page/index`,
    };
    return sideOf(sim, { settings: { ...urls, app_id: sim.appId }, secrets: { app_secret: sim.secretKey } });
  },
};
export type SideName = keyof typeof SIDES;

function sideOf(sim: StandIn & { tokens: Tokens }, access: Access): Side {
  return Object.assign(sim, { access });
}

/** A desk of a person who is signed in, with time that the test controls. */
export class AuthoriseStage extends DeskStage {
  nowMs = 1_700_000_000_000;
  appId = 0;
  readonly #sender = new Sender({ deadlineMs: PATIENCE_MS, connectionsMax: 2, mayCall: () => true });

  constructor() {
    super();
    beforeAll(async () => {
      this.appId = await this.newApp();
    });
    afterAll(() => this.#sender.close());
  }

  readonly clock = () => this.nowMs;
  /** Apps that the person may no longer change. */
  readonly takenAway = new Set<number>();

  async newApp(): Promise<number> {
    return (await createApp(this.desk, { name: "New" })).appId;
  }

  begin(ad_platform: string, body: object = {}, session = "session-1") {
    const desk = { ...this.#deskOf(session), mayCallPrivate: true, redirectUrl: REDIRECT };
    return beginAuthorising(desk, { app_id: this.appId, ad_platform, ...body });
  }

  return(returned: Values, session = "session-1"): Promise<ReturnedAuthorisation> {
    return returnAuthorised({ ...this.#deskOf(session), sender: this.#sender }, { returned });
  }

  choose(authorisation_id: number, advertiser_ids: string[], session = "session-1") {
    return chooseAuthorised(this.#deskOf(session), { authorisation_id, advertiser_ids });
  }

  /** The holder of the admin token has no session. */
  #deskOf(session: string) {
    return {
      ...this.desk,
      clock: this.clock,
      session: session === "" ? undefined : session,
      maySet: (appId: number) => !this.takenAway.has(appId),
    };
  }

  /** What a person's browser does: opens the platform's page and follows one of its links. */
  async visit(url: string, link: "authorise" | "deny" = "authorise"): Promise<Values> {
    const page = await (await fetch(url)).text();
    return Object.fromEntries(linksOf(page)[link].searchParams);
  }

  /** The way to the platform and back. */
  async authorise(platform: string, { access }: Side, body: object = access): Promise<ReturnedAuthorisation> {
    return this.return(await this.visit((await this.begin(platform, body)).url));
  }
}
