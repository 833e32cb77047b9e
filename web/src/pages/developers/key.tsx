import { useMutation } from "@tanstack/react-query";
import type { DeveloperKey, ShownDeveloper } from "../../../../src/contract/developer.ts";
import { post } from "../../api.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { Dialog, FormDialog } from "../../ui/dialog.tsx";
import { texts } from "./texts.ts";

export function KeyDialog({ name, appKey, onClose }: { name: string; appKey: string; onClose: () => void }) {
  const text = useTexts(texts);
  return (
    <Dialog title={text.keyTitle(name)} onClose={onClose}>
      <p className="notice warn">{text.keyText}</p>
      <CopyBlock value={appKey} wrap />
      <p className="soft">{text.keyUse}</p>
      <div className="row end">
        <Button look="main" onClick={onClose}>
          {text.done}
        </Button>
      </div>
    </Dialog>
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
      onSubmit={() => making.mutate()}
      isBusy={making.isPending}
      error={making.error}
    >
      <p className="notice warn">{text.newKeyText}</p>
    </FormDialog>
  );
}
