import { useState } from "react";
import type { DeveloperBody, DeveloperEditBody, ShownDeveloper } from "../../../../src/contract/setting/developer.ts";
import { post } from "../../api.ts";
import { useApps } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { Check, TextField } from "../../ui/field.tsx";
import { DEVELOPERS_KEY } from "./grant.ts";
import { texts } from "./texts.ts";
import "./developers.css";

/** Requests a new application, or changes the scope and rate of an existing one. */
export function DeveloperForm({ developer, onClose }: { developer?: ShownDeveloper; onClose: () => void }) {
  const text = useTexts(texts);
  const [name, setName] = useState("");
  const [purpose, setPurpose] = useState("");
  const [apps, setApps] = useState<"all" | readonly number[]>(developer?.apps ?? "all");
  const [calls, setCalls] = useState(String(developer?.rate_calls ?? 1));
  const [seconds, setSeconds] = useState(String(developer?.rate_window_s ?? 600));
  const granted = {
    apps: apps === "all" ? apps : [...apps],
    rate_calls: Number(calls),
    rate_window_s: Number(seconds),
  };
  return (
    <ChangeDialog
      title={developer ? text.editTitle(developer.name) : text.request}
      onClose={onClose}
      submit={{ label: developer ? text.save : text.send, disabled: apps !== "all" && apps.length === 0 }}
      ask={() =>
        developer
          ? post("developers/edit", { id: developer.id, ...granted } satisfies DeveloperEditBody)
          : post("developers/create", { name, purpose, ...granted } satisfies DeveloperBody)
      }
      stale={[DEVELOPERS_KEY]}
      said={() => (developer ? text.saved(developer.name) : text.sent)}
    >
      {!developer && (
        <>
          <TextField label={text.name} hint={text.nameHint} value={name} onChange={setName} maxLength={200} required />
          <TextField
            label={text.purpose}
            hint={text.purposeHint}
            value={purpose}
            onChange={setPurpose}
            maxLength={200}
          />
        </>
      )}
      <AppsField apps={apps} onChange={setApps} />
      <div className="grid">
        <TextField label={text.calls} value={calls} onChange={setCalls} type="number" min={1} max={999_999} required />
        <TextField
          label={text.seconds}
          value={seconds}
          onChange={setSeconds}
          type="number"
          min={1}
          max={999_999}
          required
        />
      </div>
      <p className="soft small">{text.rateHint}</p>
    </ChangeDialog>
  );
}

type AppsFieldProps = { apps: "all" | readonly number[]; onChange: (apps: "all" | readonly number[]) => void };

function AppsField({ apps, onChange }: AppsFieldProps) {
  const text = useTexts(texts);
  const { data } = useApps();
  return (
    <fieldset className="granted stack tight">
      <legend>{text.apps}</legend>
      <Check label={text.every} checked={apps === "all"} onChange={(isAll) => onChange(isAll ? "all" : [])} />
      {apps !== "all" &&
        data?.apps.map(({ app_id, name }) => (
          <Check
            key={app_id}
            label={`${name} · ${app_id}`}
            checked={apps.includes(app_id)}
            onChange={(isChosen) => onChange(isChosen ? [...apps, app_id] : apps.filter((chosen) => chosen !== app_id))}
          />
        ))}
      {apps !== "all" && apps.length === 0 && <span className="soft small">{text.chooseApps}</span>}
    </fieldset>
  );
}
