import { type Change, useChange } from "../change.ts";
import { FormDialog, type FormDialogProps } from "./dialog.tsx";

type ChangeDialogProps<Answer> = Omit<FormDialogProps, "doing"> & Omit<Change<Answer>, "onDone">;

/** Asks the server for a change and closes once it is made. */
export function ChangeDialog<Answer>({ ask, stale, said, ...dialog }: ChangeDialogProps<Answer>) {
  return <FormDialog {...dialog} doing={useChange({ ask, stale, said, onDone: dialog.onClose })} />;
}
