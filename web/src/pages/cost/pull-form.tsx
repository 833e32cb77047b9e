import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { CostAccount, CostPull } from "../../../../src/contract/admin/cost.ts";
import { post, queries } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { addDays } from "../../format.ts";
import { useToday } from "../../report/days.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { DateRange } from "../../ui/date-range.tsx";
import { FormDialog } from "../../ui/dialog.tsx";
import { SelectField } from "../../ui/field.tsx";
import { LAST_PULL } from "./pull-progress.tsx";
import { texts } from "./pull-texts.ts";

type PullFormProps = { accounts: readonly CostAccount[]; onClose: () => void };

/** Chooses accounts and days; the page behind shows the progress. */
export function PullForm({ accounts, onClose }: PullFormProps) {
  const text = useTexts(texts).form;
  const app = useApp();
  const platformName = usePlatformName();
  const today = useToday();
  const [chosen, setChosen] = useState("");
  const [span, setSpan] = useState("open");
  const [days, setDays] = useState({ from: addDays(today, -6), to: today });
  const starting = useMutation({
    mutationFn: () => {
      const account = accounts[Number(chosen)];
      const { ad_platform, advertiser_id } = account ?? {};
      const which = chosen === "" ? {} : { ad_platform, advertiser_id };
      const body = { app_id: app.app_id, ...which, ...(span === "range" && days), background: true };
      return post<CostPull>("cost/pull", body);
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [LAST_PULL] });
      onClose();
    },
  });
  return (
    <FormDialog title={text.title} submit={{ label: text.submit }} doing={starting} onClose={onClose}>
      <SelectField
        label={text.account}
        value={chosen}
        choices={[
          { value: "", label: text.all },
          ...accounts.map(({ ad_platform, advertiser_id }, at) => ({
            value: String(at),
            label: `${platformName(ad_platform)} ${advertiser_id}`,
          })),
        ]}
        onChange={setChosen}
      />
      <SelectField
        label={text.days}
        hint={text.hint}
        value={span}
        choices={[
          { value: "open", label: text.open },
          { value: "range", label: text.range },
        ]}
        onChange={setSpan}
      />
      {span === "range" && (
        <div className="form-pair">
          <DateRange days={days} today={today} onChange={setDays} />
        </div>
      )}
    </FormDialog>
  );
}
