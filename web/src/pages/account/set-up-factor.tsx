import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { BegunSecondFactor, SecondFactorCodes } from "../../../../src/contract/setting/session.ts";
import { post } from "../../api.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { CopyBlock, CopyButton } from "../../ui/copy-block.tsx";
import { Failure } from "../../ui/failure.tsx";
import { CodeField, PasswordField } from "../../ui/field.tsx";
import "./account.css";
import { QrCode } from "./qr-code.tsx";
import { factorTexts } from "./second-factor-texts.ts";

type SetUpProps = { hasPassword: boolean; onDone: () => void };

/** Password, then the key and its first code, then the recovery codes. */
export function SetUpFactor({ hasPassword, onDone }: SetUpProps) {
  const text = useTexts(factorTexts);
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const beginning = useMutation({
    mutationFn: () => post<BegunSecondFactor>("session/second-factor", hasPassword ? { password } : {}),
  });
  const confirming = useMutation({
    mutationFn: () => post<SecondFactorCodes>("session/second-factor/confirm", { code }),
  });
  if (confirming.data) return <RecoveryCodes codes={confirming.data.recovery_codes} onDone={onDone} />;
  const begun = beginning.data;
  const doing = begun ? confirming : beginning;
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        doing.mutate();
      }}
    >
      {begun ? (
        <>
          <p>{text.scan}</p>
          <QrCode value={begun.uri} label={text.picture} />
          <CopyBlock value={begun.secret} wrap />
          <CodeField label={text.code} hint={text.codeHint} value={code} onChange={setCode} />
        </>
      ) : (
        hasPassword && <PasswordField kind="current" label={text.password} value={password} onChange={setPassword} />
      )}
      {doing.error && <Failure error={doing.error} />}
      <div className="row end">
        <Button type="submit" look="main" disabled={doing.isPending}>
          {begun ? text.confirm : text.begin}
        </Button>
      </div>
    </form>
  );
}

function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  const text = useTexts(factorTexts);
  return (
    <div className="stack">
      <h2>{text.codesTitle}</h2>
      <p className="notice warn">{text.codesText}</p>
      <ol className="recovery-codes mono">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ol>
      <div className="row end">
        <CopyButton value={codes.join("\n")} />
        <Button look="main" onClick={onDone}>
          {text.done}
        </Button>
      </div>
    </div>
  );
}
