import { type ComponentProps, useEffect, useState } from "react";
import { TextField } from "./field.tsx";

/**
 * A text field that tells its value when somebody has finished typing: on Enter, on leaving it, or when the text is one of
 * the suggestions. For values that a change of makes the server work.
 */
export function SettledField({ value, onChange, ...rest }: ComponentProps<typeof TextField>) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const settle = (text: string) => {
    if (text !== value) onChange(text);
  };
  return (
    <TextField
      {...rest}
      value={typed}
      onChange={(text) => {
        setTyped(text);
        if (rest.suggestions?.some((one) => one.value === text)) settle(text);
      }}
      onBlur={() => settle(typed)}
      onKeyDown={(event) => {
        if (event.key === "Enter") settle(typed);
      }}
    />
  );
}
