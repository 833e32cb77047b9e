import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { MadeCallback } from "../../../../src/contract/account.ts";
import { post, queries } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { FormDialog } from "../../ui/dialog.tsx";
import { TextArea, TextField } from "../../ui/field.tsx";
import { say } from "../../ui/toast.tsx";
import { texts } from "./callback-texts.ts";
import type { Callback, Kind } from "./callbacks.tsx";

export const CALLBACKS_KEY = "callbacks";

type CallbackFormProps = {
  kind: Kind;
  known: Callback | undefined;
  onClose: () => void;
  /** With the secret, where the server has made one. */
  onMade: (secret: string | undefined) => void;
};

export function CallbackForm({ kind, known, onClose, onMade }: CallbackFormProps) {
  const text = useTexts(texts);
  const app = useApp();
  const [url, setUrl] = useState(known?.url ?? "");
  const [events, setEvents] = useState(known?.events.join("\n") ?? "");
  const [secret, setSecret] = useState("");
  const saving = useMutation({
    mutationFn: () => {
      const own = { events: events.split(/[\s,]+/).filter(Boolean), ...(secret !== "" && { secret }) };
      const body = { app_id: app.app_id, kind, url: url.trim(), ...(kind === "event" && own) };
      return post<MadeCallback>("callbacks/set", body);
    },
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: [CALLBACKS_KEY] });
      say(text.saved);
      onMade(made.secret);
    },
  });
  return (
    <FormDialog
      title={text.form.title[kind]}
      submit={{ label: text.form.submit }}
      onSubmit={() => saving.mutate()}
      isBusy={saving.isPending}
      error={saving.error}
      onClose={onClose}
    >
      <TextArea
        label={text.url}
        hint={text.form.urlHint[kind]}
        rows={3}
        value={url}
        onChange={setUrl}
        spellCheck={false}
        required
      />
      {kind === "event" && (
        <TextArea
          label={text.form.events}
          hint={text.form.eventsHint}
          rows={3}
          value={events}
          onChange={setEvents}
          spellCheck={false}
        />
      )}
      {kind === "event" && (
        <TextField
          label={text.form.secret}
          hint={known ? text.form.secretKnown : text.form.secretNew}
          type="password"
          autoComplete="off"
          value={secret}
          onChange={setSecret}
        />
      )}
    </FormDialog>
  );
}
