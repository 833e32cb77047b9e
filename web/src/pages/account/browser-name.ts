/** In this order: most browsers also claim to be others. */
const BROWSERS: readonly (readonly [sign: RegExp, name: string])[] = [
  [/MicroMessenger\//, "WeChat"],
  [/Edg(?:e|A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/(?:Headless)?Chrome\/|CriOS\//, "Chrome"],
  [/Safari\//, "Safari"],
];

const SYSTEMS: readonly (readonly [sign: RegExp, name: string])[] = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
];

/** A user agent in two words, or undefined when neither is known. */
export function browserName(agent: string): string | undefined {
  const nameIn = (list: typeof BROWSERS) => list.find(([sign]) => sign.test(agent))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  return browser && system ? `${browser} · ${system}` : (browser ?? system);
}
