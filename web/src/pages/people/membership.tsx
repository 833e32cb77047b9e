import { useState } from "react";
import type { ConsoleUser, ShownGrant } from "../../../../src/contract/setting/session.ts";
import { post, SESSION_KEY } from "../../api.ts";
import { useChange } from "../../change.ts";
import { useSession } from "../../session.tsx";
import { useTexts } from "../../texts.ts";
import { FormDialog } from "../../ui/dialog.tsx";
import { GrantsField } from "./grants-field.tsx";
import { texts } from "./texts.ts";

export const PEOPLE_KEY = ["console-users"] as const;

const NO_ROLE: ShownGrant[] = [{ app_id: null, role: "viewer" }];

type MemberProps = { user: ConsoleUser; onClose: () => void };

export function RoleDialog({ user: { name, grants: before }, onClose }: MemberProps) {
  const text = useTexts(texts);
  const [grants, setGrants] = useState(before.length > 0 ? before : NO_ROLE);
  const changing = useMembership("role", { name, grants }, { said: text.roleChanged(name), onClose });
  return (
    <FormDialog title={text.roleTitle(name)} onClose={onClose} submit={{ label: text.roleButton }} doing={changing}>
      <GrantsField grants={grants} onChange={setGrants} />
      <p className="notice">{text.roleAbout}</p>
    </FormDialog>
  );
}

export function RemoveDialog({ user: { name }, onClose }: MemberProps) {
  const text = useTexts(texts);
  const removing = useMembership("remove", { name }, { said: text.removed(name), onClose });
  return (
    <FormDialog
      title={text.removeTitle(name)}
      onClose={onClose}
      submit={{ label: text.removeButton, look: "danger" }}
      doing={removing}
    >
      <p className="notice warn">{text.removeText}</p>
    </FormDialog>
  );
}

export function SignOutDialog({ user: { name }, onClose }: MemberProps) {
  const text = useTexts(texts);
  const ending = useMembership("sign-out", { name }, { said: text.signedOut(name), onClose });
  return (
    <FormDialog title={text.signOutTitle(name)} onClose={onClose} submit={{ label: text.signOut }} doing={ending}>
      <p className="notice">{text.signOutText}</p>
    </FormDialog>
  );
}

export function ResetFactorDialog({ user: { name }, onClose }: MemberProps) {
  const text = useTexts(texts);
  const resetting = useMembership("reset-second-factor", { name }, { said: text.factorReset(name), onClose });
  return (
    <FormDialog
      title={text.resetTitle(name)}
      onClose={onClose}
      submit={{ label: text.resetButton, look: "danger" }}
      doing={resetting}
    >
      <p className="notice warn">{text.resetText}</p>
    </FormDialog>
  );
}

/** People who change or remove themselves have other rights from then on, so the session is fetched again. */
function useMembership(
  path: "role" | "remove" | "sign-out" | "reset-second-factor",
  body: { name: string; grants?: readonly ShownGrant[] },
  { said, onClose }: { said: string; onClose: () => void },
) {
  const own = useSession().name;
  return useChange({
    ask: () => post(`console-users/${path}`, body),
    stale: body.name === own ? [SESSION_KEY, PEOPLE_KEY] : [PEOPLE_KEY],
    said: () => said,
    onDone: onClose,
  });
}
