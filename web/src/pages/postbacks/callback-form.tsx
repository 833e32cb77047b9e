import { useState } from "react";
import type { MadeCallback } from "../../../../src/contract/setting/account.ts";
import { post } from "../../api.ts";
import { useChange } from "../../change.ts";
import { useApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { FormDialog } from "../../ui/dialog.tsx";
import { TextArea, TextField } from "../../ui/field.tsx";
import { CALLBACKS, type Callback, type Kind } from "./callback-query.ts";
import { texts } from "./callback-texts.ts";

type CallbackFormProps = {
  kind: Kind;
  known: Callback | undefined;
  onClose: () => void;
  /** Called with the secret if the server made one. */
  onMade: (secret: string | undefined) => void;
};

export function CallbackForm({ kind, known, onClose, onMade }: CallbackFormProps) {
  const text = useTexts(texts);
  const app = useApp();
  const [url, setUrl] = useState(known?.url ?? "");
  const [events, setEvents] = useState(known?.events.join("\n") ?? "");
  const [secret, setSecret] = useState("");
  const saving = useChange({
    ask: () => {
      const own = { events: events.split(/[\s,]+/).filter(Boolean), ...(secret !== "" && { secret }) };
      const body = { app_id: app.app_id, kind, url: url.trim(), ...(kind === "event" && own) };
      return post<MadeCallback>("callbacks/set", body);
    },
    stale: [[CALLBACKS]],
    said: () => text.saved,
    onDone: (made) => onMade(made.secret),
  });
  return (
    <FormDialog title={text.form.title[kind]} submit={{ label: text.form.submit }} doing={saving} onClose={onClose}>
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
