import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { post, queries, SESSION_KEY, type Session } from "../../api.ts";
import { useSession } from "../../session.tsx";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { PasswordField } from "../../ui/field.tsx";
import { say } from "../../ui/toast.tsx";
import { passwordTexts } from "./password-texts.ts";

export function PasswordTab() {
  const text = useTexts(passwordTexts);
  const { name } = useSession();
  const [present, setPresent] = useState("");
  const [fresh, setFresh] = useState("");
  const changing = useMutation({
    mutationFn: () => post<Session>("session/password", { password: present, new_password: fresh }),
    onSuccess: (session) => {
      queries.setQueryData(SESSION_KEY, session);
      setPresent("");
      setFresh("");
      say(text.changed);
    },
  });
  return (
    <>
      <p className="soft">{text.about}</p>
      <form
        className="card stack narrow"
        onSubmit={(event) => {
          event.preventDefault();
          changing.mutate();
        }}
      >
        <input
          className="visually-hidden"
          type="text"
          autoComplete="username"
          value={name}
          readOnly
          tabIndex={-1}
          aria-hidden
        />
        <PasswordField kind="current" label={text.present} value={present} onChange={setPresent} />
        <PasswordField kind="new" label={text.fresh} hint={text.hint} value={fresh} onChange={setFresh} />
        {changing.error && <Failure error={changing.error} />}
        <div className="row end">
          <Button type="submit" look="main" disabled={changing.isPending}>
            {text.change}
          </Button>
        </div>
      </form>
    </>
  );
}
