import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { AppCreateBody, AppsAnswer } from "../../../../src/contract/setting/app.ts";
import { post, queries } from "../../api.ts";
import { APPS_KEY, type ShownApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { FormDialog } from "../../ui/dialog.tsx";
import { say } from "../../ui/toast.tsx";
import { CurrencyField, isTimeZone, MetadataField, NameField, TimeZoneField } from "./app-fields.tsx";
import { texts } from "./texts.ts";

type NewAppProps = { onClose: () => void; onMade: (app: ShownApp) => void };

export function NewAppDialog({ onClose, onMade }: NewAppProps) {
  const text = useTexts(texts);
  const [name, setName] = useState("");
  const [timeZone, setTimeZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [currency, setCurrency] = useState("CNY");
  const [metadata, setMetadata] = useState<"open" | "strict">("open");
  const creating = useMutation({
    mutationFn: () =>
      post<ShownApp>("apps/create", { name, time_zone: timeZone, currency, metadata } satisfies AppCreateBody),
    onSuccess: (made) => {
      queries.setQueryData<AppsAnswer>(APPS_KEY, (known) => ({ apps: [...(known?.apps ?? []), made] }));
      say(text.made(made.name));
      onMade(made);
    },
  });
  return (
    <FormDialog
      title={text.newApp}
      onClose={onClose}
      submit={{ label: text.create, disabled: !isTimeZone(timeZone) }}
      doing={creating}
    >
      <NameField value={name} onChange={setName} />
      <TimeZoneField value={timeZone} onChange={setTimeZone} />
      <CurrencyField value={currency} onChange={setCurrency} />
      <MetadataField value={metadata} onChange={setMetadata} />
    </FormDialog>
  );
}
