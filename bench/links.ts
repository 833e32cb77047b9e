import type { RequestMaker } from "./load.ts";

/** Link calls as Tencent's server makes them, each for a new click. */
export function linkRequests(options: { appId: number; nowMs: number }): RequestMaker {
  let number = 0;
  const seconds = Math.floor(options.nowMs / 1000);
  return () => {
    number += 1;
    const query = [
      `app_id=${options.appId}&company=tencent&track_id=abcdefgh12345678&channel=base_channel&advertiser_id=26531`,
      `gid=9001&aid=${71_000 + (number % 50)}&cid=${81_000 + (number % 200)}&csite=SITE_SET_WECHAT&ts=${seconds - (number % 3600)}`,
      `click_id=wx${String(number).padStart(12, "0")}&req_id=r${number}&callback=http%3A%2F%2Ftracking.e.qq.com%2Fconv%3Fcb%3D${number}%26conv_id%3D1`,
      `os=android&oaid_md5=${String(number).padStart(32, "a")}&ip=10.${number % 200}.${(number >> 8) % 250}.7`,
      "ua=Mozilla%2F5.0%20(Linux%3B%20Android%2014%3B%2023127PN0CC%20Build%2FUKQ1)%20AppleWebKit%2F537.36",
    ].join("&");
    return Buffer.from(
      `GET /event_center/api/v1/event/click/?${query} HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: bench\r\n\r\n`,
      "latin1",
    );
  };
}
