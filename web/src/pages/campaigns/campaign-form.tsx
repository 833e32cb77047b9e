import { useState } from "react";
import type { ShownCampaign } from "../../../../src/contract/setting/campaign.ts";
import { post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { PlatformChoice } from "./platform-choice.tsx";
import { texts } from "./texts.ts";

const EMPTY: ShownCampaign = {
  turbo_promoted_object_id: "",
  name: "",
  ad_platform: "",
  channel: "",
  os_platform: "",
  operator: "",
  dept: "",
};

/** Creates a campaign unless one is given. */
export function CampaignForm({ campaign, onClose }: { campaign?: ShownCampaign; onClose: () => void }) {
  const text = useTexts(texts).form;
  const app = useApp();
  const [fields, setFields] = useState(campaign ?? EMPTY);
  const change = (changes: Partial<ShownCampaign>) => setFields((before) => ({ ...before, ...changes }));
  return (
    <ChangeDialog
      title={campaign ? text.edit : text.create}
      submit={{ label: campaign ? text.submitEdit : text.submitCreate }}
      ask={() => post<ShownCampaign>(`campaigns/${campaign ? "edit" : "create"}`, bodyOf(app.app_id, fields))}
      stale={[["campaigns"]]}
      said={() => (campaign ? text.changed : text.made)}
      onClose={onClose}
    >
      <TextField
        label={text.name}
        value={fields.name}
        onChange={(name) => change({ name })}
        maxLength={200}
        autoFocus
        required
      />
      <PlatformChoice value={fields.ad_platform} onChange={(ad_platform) => change({ ad_platform })} />
      <TextField
        label={text.channel}
        hint={text.channelHint}
        value={fields.channel}
        onChange={(channel) => change({ channel })}
        maxLength={200}
      />
      <SelectField
        label={text.os}
        value={fields.os_platform}
        choices={[
          { value: "", label: text.anyOs },
          { value: "ios", label: "iOS" },
          { value: "android", label: "Android" },
          { value: "harmony", label: "HarmonyOS" },
        ]}
        onChange={(os_platform) => change({ os_platform })}
      />
      <div className="form-pair">
        <TextField
          label={text.operator}
          value={fields.operator}
          onChange={(operator) => change({ operator })}
          maxLength={200}
        />
        <TextField label={text.dept} value={fields.dept} onChange={(dept) => change({ dept })} maxLength={200} />
      </div>
      {!campaign && (
        <TextField
          label={text.id}
          hint={text.idHint}
          value={fields.turbo_promoted_object_id}
          onChange={(turbo_promoted_object_id) => change({ turbo_promoted_object_id })}
        />
      )}
    </ChangeDialog>
  );
}

/** An empty id is left out, so that the server makes one. */
function bodyOf(app_id: number, { turbo_promoted_object_id, ...fields }: ShownCampaign): object {
  return { app_id, ...fields, ...(turbo_promoted_object_id !== "" && { turbo_promoted_object_id }) };
}
