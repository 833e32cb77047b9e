import { useState } from "react";
import type { AppEditBody } from "../../../../src/contract/setting/app.ts";
import { post } from "../../api.ts";
import { APPS_KEY, type ShownApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { Check, SelectField, TextField } from "../../ui/field.tsx";
import { CurrencyField, isTimeZone, MetadataField, NameField, TimeZoneField } from "./app-fields.tsx";
import { isRateList, type Rate, RatesField, ratesOf } from "./rates.tsx";
import { texts } from "./texts.ts";

export function EditAppDialog({ app, onClose }: { app: ShownApp; onClose: () => void }) {
  const text = useTexts(texts);
  const [name, setName] = useState(app.name);
  const [timeZone, setTimeZone] = useState(app.time_zone);
  const [currency, setCurrency] = useState(app.currency);
  const [metadata, setMetadata] = useState(app.metadata);
  const [mustRegister, setMustRegister] = useState(app.require_registration);
  const [share, setShare] = useState(String(Math.round(app.pay_share * 10_000) / 100));
  const [refundsOn, setRefundsOn] = useState(app.refunds_on);
  const [rates, setRates] = useState<readonly Rate[]>(() => ratesOf(app.rates));
  const changed: AppEditBody = {
    app_id: app.app_id,
    name,
    time_zone: timeZone,
    currency,
    metadata,
    require_registration: mustRegister,
    pay_share: Math.round(Number(share) * 100) / 10_000,
    refunds_on: refundsOn,
    rates: changedRates(app, rates),
  };
  const isGoodShare = /^\d{1,3}(?:\.\d{1,2})?$/.test(share) && Number(share) <= 100;
  const isGood = isTimeZone(timeZone) && isGoodShare && isRateList(rates);
  return (
    <ChangeDialog
      title={text.editTitle(app.name)}
      onClose={onClose}
      submit={{ label: text.save, disabled: !isGood }}
      ask={() => post<ShownApp>("apps/edit", changed)}
      stale={[APPS_KEY]}
      said={() => text.saved(name)}
    >
      <NameField value={name} onChange={setName} />
      <TimeZoneField value={timeZone} onChange={setTimeZone} />
      <CurrencyField value={currency} onChange={setCurrency} />
      <RatesField currency={currency} rates={rates} onChange={setRates} />
      <MetadataField value={metadata} onChange={setMetadata} />
      <Check label={text.requireRegistration} checked={mustRegister} onChange={setMustRegister} />
      <TextField
        label={text.payShare}
        hint={text.payShareHint}
        problem={isGoodShare ? undefined : text.payShareProblem}
        value={share}
        onChange={setShare}
        inputMode="decimal"
      />
      <SelectField
        label={text.refundsOn}
        value={refundsOn}
        choices={(["order", "refund"] as const).map((value) => ({ value, label: text.refundDays[value] }))}
        onChange={(value) => setRefundsOn(value as typeof refundsOn)}
      />
    </ChangeDialog>
  );
}

/** Only the rates that changed; a removed rate is sent as an empty text. */
function changedRates(app: ShownApp, rates: readonly Rate[]): Record<string, string> {
  const removed = Object.keys(app.rates).map((code): [string, string] => [code, ""]);
  return Object.fromEntries([...removed, ...rates.map(({ code, value }): [string, string] => [code, value])]);
}
