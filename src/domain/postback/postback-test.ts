/** What a test can tell of the device or the user behind a click. */
export const TEST_DEVICE_FIELDS = [
  ...(["os", "oaid", "imei", "idfa", "android_id", "ip", "ua", "wx_openid", "wx_unionid"] as const),
] as const;

/** What a real postback would have come to. */
export const TEST_VERDICTS = ["accepted", "refused", "retry", "no_answer", "not_sent"] as const;
export type TestVerdict = (typeof TEST_VERDICTS)[number];

/**
 * What else to know about a test. `new_token`: the second call, after the first one's token was refused.
 * `other_account`: real postbacks of the user go through another account.
 */
export const TEST_NOTES = ["new_token", "other_account"] as const;
export type TestNote = (typeof TEST_NOTES)[number];
