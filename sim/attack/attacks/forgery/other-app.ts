import { signedRequest } from "../../../../src/client/report-client.ts";
import type { Attack } from "../../attack.ts";

/** The client ids of the other app's ordinary clients: a client id is no secret. */
export const ORDINARY_CLIENT = "player-";
/** Distinguishes the other app's users from users with the same id in the attacker's own app. */
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
      // Any answer is about the attacker's own app; in the end the audit searches the other app for these events.
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
