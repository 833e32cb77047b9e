import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { SecondFactorState } from "../../../../src/contract/setting/session.ts";
import { get, post, queries } from "../../api.ts";
import { useChange } from "../../change.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { FormDialog } from "../../ui/dialog.tsx";
import { CodeField } from "../../ui/field.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { FACTOR_KEY } from "./account-query.ts";
import { factorTexts } from "./second-factor-texts.ts";
import { SetUpFactor } from "./set-up-factor.tsx";

export function useFactorQuery() {
  return useQuery({
    queryKey: FACTOR_KEY,
    queryFn: ({ signal }) => get<SecondFactorState>("session/second-factor", {}, signal),
  });
}

/** The second factor: set up, shown, and switched off. */
export function SecondFactorTab() {
  const text = useTexts(factorTexts);
  const factor = useFactorQuery();
  return (
    <>
      <p className="soft">{text.about}</p>
      <div className="card stack narrow">
        <QueryView query={factor}>{(state) => <Factor state={state} />}</QueryView>
      </div>
    </>
  );
}

function Factor({ state }: { state: SecondFactorState }) {
  const text = useTexts(factorTexts);
  const [isSettingUp, setSettingUp] = useState(false);
  const [isRemoving, setRemoving] = useState(false);
  const onDone = async () => {
    setSettingUp(false);
    await queries.invalidateQueries({ queryKey: FACTOR_KEY });
  };
  if (isSettingUp) return <SetUpFactor hasPassword={state.has_password} onDone={onDone} />;
  return (
    <>
      <div className="row apart">
        <Badge tone={state.is_on ? "good" : "warn"}>{state.is_on ? text.on : text.off}</Badge>
        {state.is_on ? (
          <Button look="danger" onClick={() => setRemoving(true)}>
            {text.remove}
          </Button>
        ) : (
          <Button look="main" onClick={() => setSettingUp(true)}>
            {text.begin}
          </Button>
        )}
      </div>
      {state.is_on && <p className="soft">{text.left(state.recovery_codes_left)}</p>}
      {state.is_required && <p className="soft">{text.required}</p>}
      {isRemoving && <RemoveDialog onClose={() => setRemoving(false)} />}
    </>
  );
}

function RemoveDialog({ onClose }: { onClose: () => void }) {
  const text = useTexts(factorTexts);
  const [code, setCode] = useState("");
  const removing = useChange({
    ask: () => post("session/second-factor/remove", { code }),
    stale: [FACTOR_KEY],
    said: () => text.removed,
    onDone: onClose,
  });
  return (
    <FormDialog
      title={text.removeTitle}
      onClose={onClose}
      submit={{ label: text.remove, look: "danger" }}
      doing={removing}
    >
      <p className="notice warn">{text.removeText}</p>
      <CodeField label={text.code} value={code} onChange={setCode} />
    </FormDialog>
  );
}
