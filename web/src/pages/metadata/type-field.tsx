import { useTexts } from "../../texts.ts";
import { SelectField } from "../../ui/field.tsx";
import { PROPERTY_TYPES, type PropertyType } from "./declaring.ts";
import { texts } from "./texts.ts";

type TypeFieldProps = { value: PropertyType; onChange: (type: PropertyType) => void };

export function TypeField({ value, onChange }: TypeFieldProps) {
  const text = useTexts(texts);
  const choices = PROPERTY_TYPES.map((type) => ({ value: type, label: `${text.types[type]} (${type})` }));
  return (
    <SelectField
      label={text.type}
      value={value}
      choices={choices}
      onChange={(type) => onChange(type as PropertyType)}
    />
  );
}
