import { type ReactNode, useEffect, useId, useRef } from "react";
import { useTexts } from "../texts.ts";
import { Button, type ButtonLook } from "./button.tsx";
import { Failure } from "./failure.tsx";
import { texts } from "./texts.ts";

type DialogProps = { title: string; onClose: () => void; children: ReactNode; width?: "normal" | "wide" };

/** The browser's own dialog, which keeps the focus inside and closes on Escape. It is open as long as it is rendered. */
export function Dialog({ title, onClose, children, width = "normal" }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = element.current!;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return (
    <dialog ref={element} className={`dialog ${width}`} aria-labelledby={titleId} onClose={onClose}>
      <div className="dialog-body">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

type TellDialogProps = DialogProps & {
  /** The label of the only button. */
  done?: string;
};

/** A dialog that only shows something. */
export function TellDialog({ done, children, ...dialog }: TellDialogProps) {
  const text = useTexts(texts);
  return (
    <Dialog {...dialog}>
      {children}
      <div className="row end">
        <Button look={done === undefined ? "plain" : "main"} onClick={dialog.onClose}>
          {done ?? text.close}
        </Button>
      </div>
    </Dialog>
  );
}

export type FormDialogProps = DialogProps & {
  submit: { label: string; look?: ButtonLook; disabled?: boolean };
  /** A mutation, or a function that is done at once. */
  doing: { mutate: () => void; isPending?: boolean; error?: unknown };
};

/** A dialog that does something. It shows a refusal and stays open until the work is done. */
export function FormDialog({ submit, doing, children, ...dialog }: FormDialogProps) {
  const text = useTexts(texts);
  return (
    <Dialog {...dialog}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          doing.mutate();
        }}
      >
        {children}
        {doing.error ? <Failure error={doing.error} /> : null}
        <div className="row end">
          <Button onClick={dialog.onClose}>{text.cancel}</Button>
          <Button type="submit" look={submit.look ?? "main"} disabled={doing.isPending || submit.disabled}>
            {submit.label}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
