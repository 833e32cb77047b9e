import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import type { BegunOidc, SignInWays } from "../../../../src/contract/setting/session.ts";
import { get, post, type Session } from "../../api.ts";
import { startOver } from "../../session.tsx";
import { useTexts } from "../../texts.ts";
import { Button, type ButtonLook } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Gate } from "./gate.tsx";
import { texts } from "./texts.ts";

/** How people can sign in here. */
export function useWays() {
  return useQuery({ queryKey: ["session/ways"], queryFn: () => get<SignInWays>("session/ways"), staleTime: 60_000 });
}

/** Goes to the page of the identity provider. */
export function ProviderButton({ name, look }: { name: string; look: ButtonLook }) {
  const text = useTexts(texts);
  const going = useMutation({
    mutationFn: () => post<BegunOidc>("session/oidc", {}),
    onSuccess: ({ url }) => location.assign(url),
  });
  return (
    <>
      <Button look={look} disabled={going.isPending || going.isSuccess} onClick={() => going.mutate()}>
        {text.signInWith(name)}
      </Button>
      {going.error && <Failure error={going.error} />}
    </>
  );
}

/** The page to which the identity provider sends people back: hands over what it says, once. */
export function SignedInElsewhere() {
  const text = useTexts(texts);
  const [, goTo] = useLocation();
  const [returned] = useState(() => Object.fromEntries(new URLSearchParams(location.search)));
  const entering = useMutation({
    mutationFn: () => post<Session>("session/oidc/return", { returned }),
    onSuccess: (session) => {
      startOver(session);
      goTo("/", { replace: true });
    },
  });
  // The code must not stay in the address, where others could read it.
  useEffect(() => {
    history.replaceState(null, "", location.pathname);
    entering.mutate();
  }, []);
  if (!entering.error) return <Progress />;
  return (
    <Gate title={text.signIn} onSubmit={() => goTo("/", { replace: true })}>
      <Failure error={entering.error} />
      <Button type="submit" look="main">
        {text.back}
      </Button>
    </Gate>
  );
}
