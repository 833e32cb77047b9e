/** What an attacker knows. Of the app under ordinary load, only what every ad link shows. */
export type Target = {
  url: string;
  victim: { appId: number };
  /** The attacker's own app, with everything that its owner has. */
  own: { appId: number; accessToken: string; developerKey: string };
  /** An app whose Baidu clicks have to be signed, and its key. */
  signing: { appId: number; akey: string };
  /** Credentials for attacks by an insider, which must fail all the same. */
  inside: {
    adminToken: string;
    adminName: string;
    adminPassword: string;
    analystName: string;
    analystPassword: string;
  };
  /** Developer applications that nothing else uses. */
  developers: readonly number[];
};
