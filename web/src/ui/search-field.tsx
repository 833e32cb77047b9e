import { useEffect, useRef, useState } from "react";
import { TextField } from "./field.tsx";

const QUIET_MS = 300;
/** The longest id. */
const LENGTH_MAX = 128;

type SearchFieldProps = { label: string; value: string; onSearch: (text: string) => void; placeholder?: string };

/** Searches when typing pauses, and at once on Enter. */
export function SearchField({ label, value, onSearch, placeholder }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const search = useRef(onSearch);
  search.current = onSearch;
  const wanted = typed.trim();
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (wanted === value) return;
    const timer = setTimeout(() => search.current(wanted), QUIET_MS);
    return () => clearTimeout(timer);
  }, [wanted, value]);
  return (
    <TextField
      type="search"
      label={label}
      value={typed}
      placeholder={placeholder}
      maxLength={LENGTH_MAX}
      autoComplete="off"
      spellCheck={false}
      onChange={setTyped}
      onKeyDown={(event) => {
        if (event.key === "Enter") onSearch(wanted);
      }}
    />
  );
}
