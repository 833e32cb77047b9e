import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiFailure, post, type Session } from "../../api.ts";
import { startOver } from "../../session.tsx";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { CodeField, PasswordField, TextField } from "../../ui/field.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Gate } from "./gate.tsx";
import { ProviderButton, useWays } from "./provider.tsx";
import { texts } from "./texts.ts";

export function SignIn() {
  const text = useTexts(texts);
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [isCodeAsked, setCodeAsked] = useState(false);
  const entering = useMutation({
    mutationFn: () => post<Session>("session/sign-in", { name, password, ...(code !== "" && { code }) }),
    onError: (error) => {
      if (error instanceof ApiFailure && error.needsCode) setCodeAsked(true);
    },
    onSuccess: startOver,
  });
  const ways = useWays();
  if (ways.isPending) return <Progress />;
  // While the ways are unknown, a password is worth a try.
  const { password: isByPassword, oidc } = ways.data ?? { password: true, oidc: null };
  if (!isByPassword) {
    return (
      <Gate title={text.signIn} onSubmit={() => {}}>
        {oidc !== null && <ProviderButton name={oidc} look="main" />}
        <p className="soft small">{text.noPasswords}</p>
      </Gate>
    );
  }
  return (
    <Gate title={text.signIn} onSubmit={() => entering.mutate()}>
      <TextField label={text.name} value={name} onChange={setName} autoComplete="username" required autoFocus />
      <PasswordField kind="current" label={text.password} value={password} onChange={setPassword} />
      {isCodeAsked && <CodeField label={text.code} hint={text.codeHint} value={code} onChange={setCode} />}
      {entering.error && !isFirstQuestion(entering.error, code) && <Failure error={entering.error} />}
      <Button type="submit" look="main" disabled={entering.isPending}>
        {text.signIn}
      </Button>
      {oidc !== null && <ProviderButton name={oidc} look="plain" />}
      <p className="soft small">{text.forgotten}</p>
    </Gate>
  );
}

/** That a code is needed is no failure until one was given. */
export function isFirstQuestion(error: unknown, code: string): boolean {
  return error instanceof ApiFailure && error.needsCode && code === "";
}
