import type { ConsoleUser } from "../../../../src/contract/setting/session.ts";
import { post, SESSION_KEY } from "../../api.ts";
import { useChange } from "../../change.ts";
import { useSession } from "../../session.tsx";
import { useTexts } from "../../texts.ts";
import { FormDialog } from "../../ui/dialog.tsx";
import { texts } from "./texts.ts";

export const PEOPLE_KEY = ["console-users"] as const;

type MemberProps = { user: ConsoleUser; onClose: () => void };

export function RoleDialog({ user: { name, role }, onClose }: MemberProps) {
  const text = useTexts(texts);
  const other = role === "admin" ? "analyst" : "admin";
  const changing = useMembership("role", { name, role: other }, { said: text.roleChanged(name), onClose });
  return (
    <FormDialog
      title={text.roleTitle[other](name)}
      onClose={onClose}
      submit={{ label: text.roleButton, look: other === "admin" ? "main" : "danger" }}
      doing={changing}
    >
      <p className="notice warn">{text.roleText[other]}</p>
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

/** People who change or remove themselves have other rights from then on, so the session is fetched again. */
function useMembership(
  path: "role" | "remove",
  body: { name: string; role?: string },
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
