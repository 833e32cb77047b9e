import { useState } from "react";
import { useTexts } from "../../texts.ts";
import { FormDialog } from "../../ui/dialog.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { type Declaration, type PropertyType, useDeclaring } from "./declaring.ts";
import { texts } from "./texts.ts";
import { TypeField } from "./type-field.tsx";

const KINDS = ["event", "eventProperty", "userProperty"] as const;
type Kind = (typeof KINDS)[number];

/** Declares a name that no client has sent yet. */
export function NewNameDialog({ onClose }: { onClose: () => void }) {
  const text = useTexts(texts);
  const [kind, setKind] = useState<Kind>("event");
  const [name, setName] = useState("");
  const [type, setType] = useState<PropertyType>("string");
  const declaration: Declaration =
    kind === "event"
      ? { kind: "events", names: [name], state: "declared" }
      : { kind: "property", scope: kind === "eventProperty" ? "event" : "user", name, type };
  const declaring = useDeclaring(declaration, { said: text.declared(name), onDone: onClose });
  return (
    <FormDialog title={text.newTitle} onClose={onClose} submit={{ label: text.declare }} doing={declaring}>
      <SelectField
        label={text.kind}
        value={kind}
        choices={KINDS.map((value) => ({ value, label: text.kinds[value] }))}
        onChange={(value) => setKind(value as Kind)}
      />
      <TextField
        label={text.name}
        hint={text.nameHint}
        value={name}
        onChange={setName}
        pattern="[A-Za-z][A-Za-z0-9_]*"
        maxLength={50}
        required
      />
      {kind !== "event" && <TypeField value={type} onChange={setType} />}
    </FormDialog>
  );
}
