import { slot, type Template, template } from "./template.ts";

const NUMBER_DIGITS = 12;

/** Link calls as Tencent's server makes them, each for a new click. */
export function linkRequest(options: { appId: number; nowMs: number }): Template {
  const number = slot(NUMBER_DIGITS);
  const hourAgo = Math.floor(options.nowMs / 1000) - 3_600;
  const query = template`app_id=${options.appId}&company=tencent&track_id=abcdefgh12345678&channel=base_channel&advertiser_id=26531&gid=9001&aid=${slot(5, { modulo: 50, offset: 71_000 })}&cid=${slot(5, { modulo: 200, offset: 81_000 })}&csite=SITE_SET_WECHAT&ts=${slot(10, { modulo: 3_600, offset: hourAgo })}&click_id=wx${number}&req_id=r${number}&callback=http%3A%2F%2Ftracking.e.qq.com%2Fconv%3Fcb%3D${number}%26conv_id%3D1&os=android&oaid_md5=${"a".repeat(32 - NUMBER_DIGITS)}${number}&ip=10.${slot(3, { modulo: 100, offset: 100 })}.${slot(3, { divide: 100, modulo: 100, offset: 100 })}.7&ua=Mozilla%2F5.0%20(Linux%3B%20Android%2014%3B%2023127PN0CC%20Build%2FUKQ1)%20AppleWebKit%2F537.36`;
  return template`GET /event_center/api/v1/event/click/?${query} HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: bench\r\n\r\n`;
}
