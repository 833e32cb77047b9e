import { useState } from "react";
import type { ShownRebate } from "../../../../src/contract/setting/rebate.ts";
import { post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { PeriodFields } from "../../ui/period.tsx";
import { sorted, usePlatforms } from "../campaigns/platform-choice.tsx";
import { AccountKeyFields } from "./account-key-fields.tsx";
import { REBATE_VIEWS } from "./rebate-query.ts";
import { texts } from "./rebate-texts.ts";

type Draft = { platform: string; advertiser: string; from: string; to: string; cash: string; credit: string };
type FieldsProps = { draft: Draft; onChange: (changes: Partial<Draft>) => void };

const NEW: Draft = { platform: "", advertiser: "", from: "", to: "", cash: "0", credit: "0" };

function draftOf(rebate: ShownRebate): Draft {
  return {
    platform: rebate.ad_platform,
    advertiser: rebate.advertiser_id,
    from: rebate.start_date,
    to: rebate.end_date,
    cash: String(rebate.cash_percent),
    credit: String(rebate.credit_percent),
  };
}

/** Creates a rebate unless one is given. The account and the first day of an existing one stay. */
export function RebateForm({ rebate, onClose }: { rebate?: ShownRebate; onClose: () => void }) {
  const text = useTexts(texts).form;
  const { saved } = useTexts(texts);
  const app = useApp();
  const platformName = usePlatformName();
  const [draft, setDraft] = useState<Draft>(rebate ? draftOf(rebate) : NEW);
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  const account = `${platformName(draft.platform)} ${draft.advertiser}`.trimEnd();
  return (
    <ChangeDialog
      title={rebate ? text.edit(account) : text.create}
      submit={{ label: text.submit, disabled: draft.platform === "" || draft.from === "" }}
      ask={() => post<ShownRebate>("rebates/set", { app_id: app.app_id, ...bodyOf(draft) })}
      stale={REBATE_VIEWS}
      said={() => saved}
      onClose={onClose}
    >
      {!rebate && <AccountFields draft={draft} onChange={change} />}
      <PeriodFields period={draft} onChange={change} isStored={rebate !== undefined} />
      <div className="form-pair">
        <TextField
          label={text.cash}
          hint={text.cashHint}
          inputMode="decimal"
          value={draft.cash}
          onChange={(cash) => change({ cash })}
        />
        <TextField
          label={text.credit}
          hint={text.creditHint}
          inputMode="decimal"
          value={draft.credit}
          onChange={(credit) => change({ credit })}
        />
      </div>
    </ChangeDialog>
  );
}

function bodyOf({ platform, advertiser, from, to, cash, credit }: Draft): object {
  return {
    ad_platform: platform,
    advertiser_id: advertiser.trim(),
    start_date: from,
    end_date: to,
    cash_percent: Number(cash),
    credit_percent: Number(credit),
  };
}

function AccountFields({ draft, onChange }: FieldsProps) {
  const { data } = usePlatforms();
  return (
    <AccountKeyFields
      account={draft}
      platforms={sorted(data?.platforms ?? []).map(({ name }) => name)}
      text={useTexts(texts).form}
      onPlatform={(platform) => onChange({ platform })}
      onAdvertiser={(advertiser) => onChange({ advertiser })}
    />
  );
}
