import { useState } from "react";
import type { Account } from "../../../../src/contract/setting/account.ts";
import { post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { Check, TextField } from "../../ui/field.tsx";
import { sorted, usePlatforms } from "../campaigns/platform-choice.tsx";
import { type Draft, draftOf, type FieldsProps, NEW } from "./account-draft.ts";
import { PlatformFields } from "./account-fields.tsx";
import { AccountKeyFields } from "./account-key-fields.tsx";
import { ACCOUNT_VIEWS } from "./account-query.ts";
import { texts } from "./account-texts.ts";

/** Creates an account unless one is given. */
export function AccountForm({ account, onClose }: { account?: Account; onClose: () => void }) {
  const text = useTexts(texts);
  const app = useApp();
  const platformName = usePlatformName();
  const [draft, setDraft] = useState<Draft>(account ? draftOf(account) : NEW);
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  const title = account
    ? text.form.edit(`${platformName(account.ad_platform)} ${account.advertiser_id}`.trimEnd())
    : text.form.create;
  return (
    <ChangeDialog
      title={title}
      width="wide"
      submit={{ label: text.form.submit, disabled: draft.platform === "" }}
      ask={() => post<Account>("accounts/set", { app_id: app.app_id, ...bodyOf(draft) })}
      stale={ACCOUNT_VIEWS}
      said={() => text.saved}
      onClose={onClose}
    >
      {!account && <KeyFields draft={draft} onChange={change} />}
      {draft.platform !== "" && (
        <>
          <UseFields draft={draft} onChange={change} />
          <PlatformFields draft={draft} known={account?.secrets ?? []} onChange={change} />
        </>
      )}
    </ChangeDialog>
  );
}

/** Leaves out secrets that were not typed, so that the stored ones stay. */
function bodyOf({ platform, advertiser, postbacks, costs, rate, settings, secrets }: Draft): object {
  const typed = Object.entries(secrets).filter(([, value]) => value !== "");
  return {
    ad_platform: platform,
    advertiser_id: advertiser.trim(),
    settings,
    postbacks: postbacks ? "on" : "off",
    costs: costs ? "on" : "off",
    rate: rate.trim() === "" ? 0 : Number(rate),
    secrets: Object.fromEntries(typed),
  };
}

function KeyFields({ draft, onChange }: FieldsProps) {
  const text = useTexts(texts).form;
  const { data } = usePlatforms();
  const possible = sorted(data?.platforms ?? []).filter(({ postbacks, costs }) => postbacks || costs);
  const choose = (platform: string) => {
    const chosen = possible.find(({ name }) => name === platform);
    const takesPostbacks = chosen?.postbacks === true;
    onChange({ platform, settings: {}, secrets: {}, postbacks: takesPostbacks, costs: !takesPostbacks });
  };
  return (
    <AccountKeyFields
      account={draft}
      platforms={[...possible.map(({ name }) => name), ...(data?.publishers ?? [])]}
      text={text}
      onPlatform={choose}
      onAdvertiser={(advertiser) => onChange({ advertiser })}
    />
  );
}

function UseFields({ draft, onChange }: FieldsProps) {
  const text = useTexts(texts).form;
  const { data } = usePlatforms();
  const isPublisher = data?.publishers.includes(draft.platform) === true;
  const known = data?.platforms.find(({ name }) => name === draft.platform);
  const platform = isPublisher ? { postbacks: false, costs: true } : known;
  return (
    <div className="form-pair">
      <div className="stack tight">
        <Check
          label={text.sendPostbacks}
          checked={draft.postbacks}
          disabled={platform?.postbacks === false}
          onChange={(postbacks) => onChange({ postbacks })}
        />
        <Check
          label={isPublisher ? text.pullRevenue : text.pullCosts}
          checked={draft.costs}
          disabled={platform?.costs === false}
          onChange={(costs) => onChange({ costs })}
        />
        {platform?.postbacks === false && <span className="soft small">{text.noPostbacks}</span>}
        {platform?.costs === false && <span className="soft small">{text.noCosts}</span>}
      </div>
      <TextField
        label={text.rate}
        hint={text.rateHint}
        inputMode="numeric"
        value={draft.rate}
        onChange={(rate) => onChange({ rate })}
      />
    </div>
  );
}
