/** How to point a public client SDK at another server. */
export type SdkChange = {
  name: string;
  /**
   * address: the full address is an argument of the SDK's initialisation. constant: a line of its source. string: a text
   * inside its single file. library: the address is compiled in and cannot be changed from outside.
   */
  kind: "address" | "constant" | "string" | "library";
  /** The line as published. */
  before: string;
  /** The line that replaces it. */
  after: string;
};

type Endpoint = { baseUrl: string; accessToken: string };

const HOST = "https://backend.gravity-engine.com";
const TURBO_HOST = "https://turbo.api.plutus-cat.com";
const API = "/event_center/api/v1";

export function sdkChanges({ baseUrl, accessToken }: Endpoint): SdkChange[] {
  const collect = `${baseUrl}${API}/event/collect/?access_token=${accessToken}`;
  const given = `${HOST}${API}/event/collect/?access_token=…`;
  const address = (name: string, form: (url: string) => string): SdkChange => ({
    name,
    kind: "address",
    before: form(given),
    after: form(collect),
  });
  return [
    {
      name: "JavaScript 4.x (WeChat, Douyin, Cocos, Laya, Egret, Taro, uni-app)",
      kind: "string",
      before: `${HOST}${API}`,
      after: `${baseUrl}${API}`,
    },
    {
      name: "JavaScript 3.x (turbo)",
      kind: "string",
      before: TURBO_HOST,
      after: baseUrl,
    },
    {
      name: "Unity",
      kind: "constant",
      before: `GravitySDKConstant.SERVER_URL = "${HOST}"\nTurbo.TurboHost = "${HOST}"`,
      after: `GravitySDKConstant.SERVER_URL = "${baseUrl}"\nTurbo.TurboHost = "${baseUrl}"`,
    },
    address("Python", (url) => `GEBatchConsumer("${url}")`),
    address("Go", (url) => `gedata.GEBatchConfig{ServerUrl: "${url}", Compress: true}`),
    address("PHP", (url) => `new GEBatchConsumer("${url}")`),
    address("Ruby", (url) => `GravityEngineData::GEBatchConsumer.new("${url}", 20)`),
    address("C++", (url) => `new GEBatchConsumer("${url}", 20)`),
    {
      name: "Android, iOS",
      kind: "library",
      before: HOST,
      after: baseUrl,
    },
  ];
}
