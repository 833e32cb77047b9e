/** What an attacker knows. Of the app under ordinary load, only what every ad link shows. */
export type Target = {
  url: string;
  victim: { appId: number };
  /** An app of the attacker's own, with all that its owner has. */
  own: { appId: number; accessToken: string; developerKey: string };
  /** An app whose Baidu clicks have to be signed, and the key. */
  signing: { appId: number; akey: string };
  /** For attacks that need somebody inside: what they try must fail all the same. */
  inside: {
    adminToken: string;
    adminName: string;
    adminPassword: string;
    analystName: string;
    analystPassword: string;
  };
  /** Developer applications that nobody else needs. */
  developers: readonly number[];
};
