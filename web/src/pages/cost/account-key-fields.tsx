import { usePlatformName } from "../../report/platform-name.ts";
import { SelectField, TextField } from "../../ui/field.tsx";

type AccountKey = { platform: string; advertiser: string };

type AccountKeyFieldsProps = {
  account: AccountKey;
  platforms: readonly string[];
  text: { platform: string; choose: string; advertiser: string; advertiserHint: string };
  onPlatform: (platform: string) => void;
  onAdvertiser: (advertiser: string) => void;
};

/** Which account a setting is about: a platform, and an advertiser there. */
export function AccountKeyFields({ account, platforms, text, onPlatform, onAdvertiser }: AccountKeyFieldsProps) {
  const platformName = usePlatformName();
  return (
    <div className="form-pair">
      <SelectField
        label={text.platform}
        value={account.platform}
        choices={[
          ...(account.platform === "" ? [{ value: "", label: text.choose }] : []),
          ...platforms.map((name) => ({ value: name, label: platformName(name) })),
        ]}
        onChange={onPlatform}
      />
      <TextField
        label={text.advertiser}
        hint={text.advertiserHint}
        value={account.advertiser}
        onChange={onAdvertiser}
        spellCheck={false}
      />
    </div>
  );
}
