import type { Attack } from "../../attack.ts";

const INNER = [
  ...[
    "http://127.0.0.1:1/",
    "http://localhost:1/",
    "http://[::1]:1/",
    "http://169.254.169.254/latest/",
    "http://10.0.0.1/",
  ],
  ...[
    "http://0.0.0.0:1/",
    "http://2130706433:1/",
    "http://0x7f.1:1/",
    "http://[::ffff:127.0.0.1]:1/",
    "file:///etc/passwd",
  ],
  ...["http://127.0.0.1.:1/", "gopher://127.0.0.1:1/", "http://user:pass@127.0.0.1:1/"],
];

/** For each platform, a setting that holds an address to call. */
const SETTINGS: readonly (readonly [string, string])[] = [
  ["kuaishou", "url"],
  ["bytedance", "url"],
  ["tencent", "token_url"],
  ["baidu", "url"],
  ["vivo", "token_url"],
];

export const innerAddresses: Attack = {
  name: "inner_addresses",
  point: "10",
  by: "somebody inside",
  what: "accounts and callbacks that lead to this machine, to a cloud's metadata, to private networks",
  holds: "refused when it is set",
  async strike({ target, caller, repeat, hold }) {
    const headers = { authorization: `Bearer ${target.inside.adminToken}` };
    const app_id = target.signing.appId;
    const post = (path: string, body: object) => caller.send({ path: `/admin/api/v1/${path}`, body, headers });
    await repeat(2, async (number) => {
      const url = INNER[number % INNER.length]!;
      const [ad_platform, setting] = SETTINGS[number % SETTINGS.length]!;
      const account = { app_id, ad_platform, advertiser_id: "attack" };
      const set = await post("accounts/set", { ...account, settings: { [setting]: url }, postbacks: "off" });
      hold(set.code !== 0, `an account at ${ad_platform} may have ${url}`);
      if (set.code === 0) await post("accounts/remove", account);
      const callback = await post("callbacks/set", { app_id, kind: "event", url, events: ["e"] });
      const isSent = callback.code === 0 && !/^http:\/\/(localhost|127\.0\.0\.1\.)/.test(url);
      // A host name is judged when it is resolved, right before the call.
      hold(!isSent, `a callback may go to ${url}`);
      if (callback.code === 0) await post("callbacks/remove", { app_id, kind: "event" });
    });
  },
};
