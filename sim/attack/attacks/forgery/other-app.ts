import { signedRequest } from "../../../../src/client/report-client.ts";
import type { Attack } from "../../attack.ts";

/** How the ordinary clients of the other app are called: nothing about a client id is secret. */
export const ORDINARY_CLIENT = "player-";
/** How one of its users is told from one of the same name in one's own app. */
export const ORDINARY_CHANNEL = "base";

export const otherApp: Attack = {
  name: "other_app",
  point: "5",
  by: "the owner of another app",
  what: "one's own tokens and keys are used on the other app: its users, its reports, its links, its admin",
  holds: "nothing of it is told, and nothing of it changes",
  async strike({ target, caller, random, repeat, hold }) {
    const { accessToken, developerKey } = target.own;
    const app_id = target.victim.appId;
    const from = "198.51.100.90";
    await repeat(4, async () => {
      const client_id = `${ORDINARY_CLIENT}${random.whole(1, 200)}`;
      const users = await caller.collect(accessToken, "user/get/", { user_list: [client_id], app_id }, { from });
      hold(!users.text.includes(`"channel":"${ORDINARY_CHANNEL}"`), `its users are told: ${users.text.slice(0, 150)}`);
      await caller.collect(
        accessToken,
        "user/reset_client_id/",
        { client_id, new_client_id: `${client_id}x`, app_id },
        { from },
      );
      const event_list = [{ type: "track", event: "stolen", time: Date.now(), properties: {} }];
      // Whatever the answer is, it is about one's own app; in the end the other one is looked through for it.
      await caller.collect(accessToken, "event/collect/", { client_id, app_id, event_list }, { from });
      const signed = signedRequest({ app_id, user_filtering: {}, event_filtering: {} }, developerKey);
      const headers = { authorization: signed.authorization };
      const list = await caller.send({ path: "/openapi/api/v1/report/user/list/", body: signed.body, headers, from });
      hold(list.code !== 0, `its users are listed: ${list.text.slice(0, 150)}`);
      const admin = { authorization: `Bearer ${accessToken}` };
      const apps = await caller.send({ method: "GET", path: "/admin/api/v1/apps", headers: admin, from });
      hold(apps.code !== 0, "an access token opens the admin interface");
    });
  },
};
