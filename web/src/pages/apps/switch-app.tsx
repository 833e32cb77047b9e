import type { AppEditBody } from "../../../../src/contract/setting/app.ts";
import { post } from "../../api.ts";
import { APPS_KEY, type ShownApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { texts } from "./texts.ts";

/** Disables an app, or enables it again. */
export function SwitchAppDialog({ app, onClose }: { app: ShownApp; onClose: () => void }) {
  const text = useTexts(texts);
  const words = app.enabled
    ? { title: text.disableTitle, about: text.disableText, button: text.disableButton, look: "danger" as const }
    : { title: text.enableTitle, about: text.enableText, button: text.enableButton, look: "main" as const };
  return (
    <ChangeDialog
      title={words.title(app.name)}
      onClose={onClose}
      submit={{ label: words.button, look: words.look }}
      ask={() => post<ShownApp>("apps/edit", { app_id: app.app_id, enabled: !app.enabled } satisfies AppEditBody)}
      stale={[APPS_KEY]}
      said={() => text.saved(app.name)}
    >
      <p className={app.enabled ? "notice warn" : "notice"}>{words.about}</p>
    </ChangeDialog>
  );
}
