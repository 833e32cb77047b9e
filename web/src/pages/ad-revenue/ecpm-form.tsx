import { useState } from "react";
import type { ShownEcpm } from "../../../../src/contract/setting/ecpm.ts";
import { post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { PeriodFields } from "../../ui/period.tsx";
import { ECPM_VIEWS } from "./ecpm-query.ts";
import { texts } from "./ecpm-texts.ts";

type Draft = { unit: string; from: string; to: string; ecpm: string };

const NEW: Draft = { unit: "", from: "", to: "", ecpm: "" };

function draftOf({ ad_unit_id, start_date, end_date, ecpm }: ShownEcpm): Draft {
  return { unit: ad_unit_id, from: start_date, to: end_date, ecpm: String(ecpm) };
}

/** Creates an eCPM unless one is given. The unit and the first day of an existing one stay. */
export function EcpmForm({ ecpm, onClose }: { ecpm?: ShownEcpm; onClose: () => void }) {
  const text = useTexts(texts).form;
  const { saved } = useTexts(texts);
  const app = useApp();
  const [draft, setDraft] = useState<Draft>(ecpm ? draftOf(ecpm) : NEW);
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  const isIncomplete = draft.unit.trim() === "" || draft.from === "" || draft.ecpm.trim() === "";
  return (
    <ChangeDialog
      title={ecpm ? text.edit(ecpm.ad_unit_id) : text.create}
      submit={{ label: text.submit, disabled: isIncomplete }}
      ask={() => post<ShownEcpm>("ecpms/set", { app_id: app.app_id, ...bodyOf(draft) })}
      stale={ECPM_VIEWS}
      said={() => saved}
      onClose={onClose}
    >
      {!ecpm && (
        <TextField
          label={text.unit}
          hint={text.unitHint}
          value={draft.unit}
          onChange={(unit) => change({ unit })}
          spellCheck={false}
        />
      )}
      <PeriodFields period={draft} onChange={change} isStored={ecpm !== undefined} />
      <TextField
        label={text.ecpm(app.currency)}
        hint={text.ecpmHint}
        inputMode="decimal"
        value={draft.ecpm}
        onChange={(amount) => change({ ecpm: amount })}
      />
    </ChangeDialog>
  );
}

function bodyOf({ unit, from, to, ecpm }: Draft): object {
  return { ad_unit_id: unit.trim(), start_date: from, end_date: to, ecpm: Number(ecpm) };
}
