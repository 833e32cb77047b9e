import { usePlatformName } from "../report/platform-name.ts";

/** An account: its platform, and below it the advertiser, or what stands for all of them. */
export function AccountName({ platform, advertiser, none }: { platform: string; advertiser: string; none: string }) {
  const platformName = usePlatformName();
  return (
    <div className="account-name">
      <strong>{platformName(platform)}</strong>
      <div className="soft small">{advertiser || none}</div>
    </div>
  );
}
