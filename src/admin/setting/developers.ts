import type { Static } from "typebox";
import { requestTextBody } from "../../contract/admin/console-report.ts";
import {
  type DeveloperBody,
  type DeveloperDecisionBody,
  type DeveloperEditBody,
  developerBody,
  developerDecisionBody,
  developerEditBody,
  developerIdBody,
} from "../../contract/setting/developer.ts";
import {
  changeDeveloperApp,
  createDeveloperApp,
  DEFAULT_RATE,
  type DeveloperApp,
  decideDeveloperApp,
  loadDeveloperApp,
  type RateLevel,
  rotateDeveloperKey,
} from "../../db/developer-app.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { ApiError } from "../../errors.ts";
import { assertApps } from "../apps.ts";
import { act, assertName, type Desk } from "../desk.ts";

/** Requests a developer application; it can do nothing until it is approved. */
export function createDeveloper(desk: Desk, body: DeveloperBody): Promise<DeveloperApp> {
  return act(desk, {
    action: "developers/create",
    schema: developerBody,
    body,
    run: async (tx) => {
      const { name, purpose = "", apps } = body;
      assertName(name);
      if (apps !== "all") await assertApps(tx, apps);
      const rate = rateOf(body, DEFAULT_RATE);
      return createDeveloperApp(tx, desk.vault, { name, purpose, apps, rate, createdAtMs: desk.clock() });
    },
  });
}

/** Changes which apps a developer application may read and how often; absent fields stay as they are. */
export function editDeveloper(desk: Desk, body: DeveloperEditBody): Promise<DeveloperApp> {
  return act(desk, {
    action: "developers/edit",
    schema: developerEditBody,
    body,
    run: async (tx) => {
      const known = await knownDeveloper(tx, desk, body.id);
      const { apps = known.apps } = body;
      if (apps !== "all") await assertApps(tx, apps);
      await changeDeveloperApp(tx, { developerId: body.id, apps, rate: rateOf(body, known.rate) });
      return knownDeveloper(tx, desk, body.id);
    },
  });
}

/** Approves, refuses or disables a developer application. */
export function decideDeveloper(desk: Desk, body: DeveloperDecisionBody): Promise<DeveloperApp> {
  return act(desk, {
    action: "developers/decide",
    schema: developerDecisionBody,
    body,
    run: async (tx) => {
      const { id, state, reason = "" } = body;
      await decideDeveloperApp(tx, { developerId: id, state, reason, decidedAtMs: desk.clock() });
      return knownDeveloper(tx, desk, id);
    },
  });
}

/** Gives a developer application a new key and returns the key. Reports signed with the old one are refused at once. */
export function rotateDeveloper(desk: Desk, body: { id: number }): Promise<string> {
  return act(desk, {
    action: "developers/rotate",
    schema: developerIdBody,
    body,
    run: async (tx) => {
      const appKey = await rotateDeveloperKey(tx, desk.vault, body.id);
      if (appKey === undefined) throw noDeveloper(body.id);
      return appKey;
    },
  });
}

/** Shows the key of a developer application that could make a call of the public interface itself. */
export function showSigningKey(
  desk: Desk,
  body: Static<typeof requestTextBody> & { developer_id: number },
  assertGranted: (developer: DeveloperApp) => Promise<void>,
): Promise<string> {
  return act(desk, {
    action: "report/request-text",
    schema: requestTextBody,
    body,
    run: async (tx) => {
      const developer = await loadDeveloperApp(tx, desk.vault, body.developer_id);
      if (!developer)
        throw new ApiError("badParameter", "developer_id: there is no developer application with this id.");
      await assertGranted(developer);
      return developer.appKey;
    },
  });
}

function rateOf(given: { rate_calls?: number; rate_window_s?: number }, otherwise: RateLevel): RateLevel {
  return { calls: given.rate_calls ?? otherwise.calls, windowS: given.rate_window_s ?? otherwise.windowS };
}

async function knownDeveloper(tx: Executor, { vault }: Pick<Desk, "vault">, id: number): Promise<DeveloperApp> {
  const known = await loadDeveloperApp(tx, vault, id);
  if (!known) throw noDeveloper(id);
  return known;
}

function noDeveloper(id: number): ApiError {
  return new ApiError("badParameter", `There is no developer application ${id}.`);
}
