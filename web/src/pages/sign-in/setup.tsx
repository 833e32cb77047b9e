import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { ApiFailure, post, type Session } from "../../api.ts";
import { startOver } from "../../session.tsx";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { CodeField, PasswordField, TextField } from "../../ui/field.tsx";
import { Gate } from "./gate.tsx";
import { isFirstQuestion } from "./sign-in.tsx";
import { texts } from "./texts.ts";

/** The page behind a one-time link. Its token is in the fragment of the address, which browsers never send. */
export function Setup() {
  const text = useTexts(texts);
  const [, goTo] = useLocation();
  const [token] = useState(() => location.hash.slice(1));
  const [name, setName] = useState("admin");
  const [password, setPassword] = useState("");
  const [repeated, setRepeated] = useState("");
  const [code, setCode] = useState("");
  const [isCodeAsked, setCodeAsked] = useState(false);
  const setting = useMutation({
    mutationFn: () => post<Session>("session/setup", { token, name, password, ...(code !== "" && { code }) }),
    onError: (error) => {
      if (error instanceof ApiFailure && error.needsCode) setCodeAsked(true);
    },
    onSuccess: (session) => {
      startOver(session);
      goTo("/", { replace: true });
    },
  });
  const differ = repeated !== "" && repeated !== password;
  return (
    <Gate title={text.setupTitle} onSubmit={() => setting.mutate()}>
      <p className="soft">{token === "" ? text.noToken : text.setupAbout}</p>
      <TextField label={text.name} value={name} onChange={setName} hint={text.nameHint} autoComplete="username" />
      <PasswordField
        kind="new"
        label={text.password}
        hint={text.passwordHint}
        value={password}
        onChange={setPassword}
      />
      <PasswordField
        kind="new"
        label={text.repeat}
        problem={differ ? text.differ : undefined}
        value={repeated}
        onChange={setRepeated}
      />
      {isCodeAsked && <CodeField label={text.code} hint={text.codeHint} value={code} onChange={setCode} />}
      {setting.error && !isFirstQuestion(setting.error, code) && <Failure error={setting.error} />}
      <Button type="submit" look="main" disabled={setting.isPending || repeated !== password || token === ""}>
        {text.setupDo}
      </Button>
    </Gate>
  );
}
