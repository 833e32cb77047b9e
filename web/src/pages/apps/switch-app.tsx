import { useMutation } from "@tanstack/react-query";
import type { AppEditBody } from "../../../../src/contract/app.ts";
import { post, queries } from "../../api.ts";
import { APPS_KEY, type ShownApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { FormDialog } from "../../ui/dialog.tsx";
import { say } from "../../ui/toast.tsx";
import { texts } from "./texts.ts";

/** Disables an app, or enables it again. */
export function SwitchAppDialog({ app, onClose }: { app: ShownApp; onClose: () => void }) {
  const text = useTexts(texts);
  const switching = useMutation({
    mutationFn: () => post<ShownApp>("apps/edit", { app_id: app.app_id, enabled: !app.enabled } satisfies AppEditBody),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: APPS_KEY });
      say(text.saved(app.name));
      onClose();
    },
  });
  const words = app.enabled
    ? { title: text.disableTitle, about: text.disableText, button: text.disableButton, look: "danger" as const }
    : { title: text.enableTitle, about: text.enableText, button: text.enableButton, look: "main" as const };
  return (
    <FormDialog
      title={words.title(app.name)}
      onClose={onClose}
      submit={{ label: words.button, look: words.look }}
      onSubmit={() => switching.mutate()}
      isBusy={switching.isPending}
      error={switching.error}
    >
      <p className={app.enabled ? "notice warn" : "notice"}>{words.about}</p>
    </FormDialog>
  );
}
