import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { ConsoleUser, InvitedUser } from "../../../../src/contract/setting/session.ts";
import { post, queries } from "../../api.ts";
import { useTexts } from "../../texts.ts";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { FormDialog, TellDialog } from "../../ui/dialog.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { PEOPLE_KEY } from "./membership.tsx";
import { texts } from "./texts.ts";

type Role = ConsoleUser["role"];
type InvitingProps = { onClose: () => void; onInvited: (user: InvitedUser) => void };

export function AddDialog({ onClose, onInvited }: InvitingProps) {
  const text = useTexts(texts);
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("analyst");
  const adding = useMutation({
    mutationFn: () => post<InvitedUser>("console-users/create", { name, role }),
    onSuccess: async (user) => {
      await queries.invalidateQueries({ queryKey: PEOPLE_KEY });
      onInvited(user);
    },
  });
  const choices = (["analyst", "admin"] as const).map((value) => ({ value, label: text.roles[value] }));
  return (
    <FormDialog title={text.addTitle} onClose={onClose} submit={{ label: text.addButton }} doing={adding}>
      <TextField label={text.name} hint={text.nameHint} value={name} onChange={setName} maxLength={100} required />
      <SelectField
        label={text.role}
        hint={text.roleText[role]}
        value={role}
        choices={choices}
        onChange={(value) => setRole(value as Role)}
      />
    </FormDialog>
  );
}

export function NewLinkDialog({ name, onClose, onInvited }: InvitingProps & { name: string }) {
  const text = useTexts(texts);
  const making = useMutation({
    mutationFn: () => post<InvitedUser>("console-users/link", { name }),
    onSuccess: onInvited,
  });
  return (
    <FormDialog title={text.newLinkTitle(name)} onClose={onClose} submit={{ label: text.newLinkButton }} doing={making}>
      <p className="notice">{text.newLinkText}</p>
    </FormDialog>
  );
}

/** The token is in the fragment of the address, which browsers never send: no server log holds it. */
export function LinkDialog({ user, onClose }: { user: InvitedUser; onClose: () => void }) {
  const text = useTexts(texts);
  return (
    <TellDialog title={text.linkTitle(user.name)} onClose={onClose} done={text.done}>
      <p className="notice warn">{text.linkText}</p>
      <CopyBlock value={`${location.origin}/console/setup#${user.setup_token}`} wrap />
    </TellDialog>
  );
}
