import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { InvitedUser, ShownGrant } from "../../../../src/contract/setting/session.ts";
import { post, queries } from "../../api.ts";
import { useTexts } from "../../texts.ts";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { FormDialog, TellDialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { GrantsField } from "./grants-field.tsx";
import { PEOPLE_KEY } from "./membership.tsx";
import { texts } from "./texts.ts";

type InvitingProps = { onClose: () => void; onInvited: (user: InvitedUser) => void };

export function AddDialog({ onClose, onInvited }: InvitingProps) {
  const text = useTexts(texts);
  const [name, setName] = useState("");
  const [grants, setGrants] = useState<ShownGrant[]>([{ app_id: null, role: "analyst" }]);
  const adding = useMutation({
    mutationFn: () => post<InvitedUser>("console-users/create", { name, grants }),
    onSuccess: async (user) => {
      await queries.invalidateQueries({ queryKey: PEOPLE_KEY });
      onInvited(user);
    },
  });
  return (
    <FormDialog title={text.addTitle} onClose={onClose} submit={{ label: text.addButton }} doing={adding}>
      <TextField label={text.name} hint={text.nameHint} value={name} onChange={setName} maxLength={254} required />
      <GrantsField grants={grants} onChange={setGrants} />
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
