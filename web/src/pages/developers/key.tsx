import { useMutation } from "@tanstack/react-query";
import type { DeveloperKey, ShownDeveloper } from "../../../../src/contract/setting/developer.ts";
import { post } from "../../api.ts";
import { useTexts } from "../../texts.ts";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { FormDialog, TellDialog } from "../../ui/dialog.tsx";
import { texts } from "./texts.ts";

export function KeyDialog({ name, appKey, onClose }: { name: string; appKey: string; onClose: () => void }) {
  const text = useTexts(texts);
  return (
    <TellDialog title={text.keyTitle(name)} onClose={onClose} done={text.done}>
      <p className="notice warn">{text.keyText}</p>
      <CopyBlock value={appKey} wrap />
      <p className="soft">{text.keyUse}</p>
    </TellDialog>
  );
}

export function NewKeyDialog({ developer, onClose }: { developer: ShownDeveloper; onClose: () => void }) {
  const text = useTexts(texts);
  const { id, name } = developer;
  const making = useMutation({ mutationFn: () => post<DeveloperKey>("developers/rotate", { id }) });
  if (making.data) return <KeyDialog name={name} appKey={making.data.app_key} onClose={onClose} />;
  return (
    <FormDialog
      title={text.newKeyTitle(name)}
      onClose={onClose}
      submit={{ label: text.newKeyButton, look: "danger" }}
      doing={making}
    >
      <p className="notice warn">{text.newKeyText}</p>
    </FormDialog>
  );
}
