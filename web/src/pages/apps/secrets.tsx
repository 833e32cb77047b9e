import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { AppKeys, AppRotateBody, RotatedSecret } from "../../../../src/contract/setting/app.ts";
import { post, queries } from "../../api.ts";
import { APPS_KEY, type ShownApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { Dialog, FormDialog, TellDialog } from "../../ui/dialog.tsx";
import { Failure } from "../../ui/failure.tsx";
import { say } from "../../ui/toast.tsx";
import { texts } from "./texts.ts";

type Secret = AppRotateBody["which"];
const SECRETS: readonly Secret[] = ["access_token", "app_key", "aes_key"];

/** Fetches the keys only on request, because the server logs that they were shown. */
export function SecretsDialog({ app, onClose }: { app: ShownApp; onClose: () => void }) {
  const text = useTexts(texts);
  const [rotating, setRotating] = useState<Secret>();
  const showing = useMutation({ mutationFn: () => post<AppKeys>("apps/keys", { app_id: app.app_id }) });
  const values: Partial<Record<Secret, string>> = { ...showing.data, access_token: app.access_token };
  if (rotating) {
    const back = () => {
      setRotating(undefined);
      // The key on display may be the one that was just replaced.
      if (showing.data) showing.mutate();
    };
    return <RotateDialog app={app} which={rotating} onClose={back} />;
  }
  return (
    <Dialog title={text.secretsTitle(app.name)} onClose={onClose}>
      {SECRETS.map((secret) => (
        <section key={secret} className="stack tight">
          <div className="row apart">
            <h3>{text.shown[secret]}</h3>
            <Button size="small" look="danger" onClick={() => setRotating(secret)}>
              {text.rotate}
            </Button>
          </div>
          <span className="soft small">{text.uses[secret]}</span>
          {values[secret] === undefined ? (
            <span className="soft">•••••••••••••••• {text.hidden}</span>
          ) : (
            <CopyBlock value={values[secret]} wrap />
          )}
        </section>
      ))}
      {showing.error && <Failure error={showing.error} />}
      <div className="row apart">
        <span className="soft small">{text.showHint}</span>
        <span className="row">
          {!showing.data && (
            <Button disabled={showing.isPending} onClick={() => showing.mutate()}>
              {text.show}
            </Button>
          )}
          <Button onClick={onClose}>{text.done}</Button>
        </span>
      </div>
    </Dialog>
  );
}

function RotateDialog({ app, which, onClose }: { app: ShownApp; which: Secret; onClose: () => void }) {
  const text = useTexts(texts);
  const rotating = useMutation({
    mutationFn: () => post<RotatedSecret>("apps/rotate", { app_id: app.app_id, which } satisfies AppRotateBody),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: APPS_KEY });
      say(text.rotated(text.shown[which]));
    },
  });
  const title = text.rotateTitle(text.shown[which], app.name);
  if (rotating.data) {
    return (
      <TellDialog title={text.rotated(text.shown[which])} onClose={onClose} done={text.done}>
        <h3>{text.fresh}</h3>
        <CopyBlock value={rotating.data.value} wrap />
      </TellDialog>
    );
  }
  return (
    <FormDialog title={title} onClose={onClose} submit={{ label: text.rotateButton, look: "danger" }} doing={rotating}>
      <p className="notice warn">{text.breaks[which]}</p>
    </FormDialog>
  );
}
