import { useEffect, useRef, useState } from "react";
import { TextField } from "./field.tsx";

const QUIET_MS = 300;

type SearchFieldProps = { label: string; value: string; onSearch: (text: string) => void; placeholder?: string };

/** Searches when whoever types pauses, and at once with Enter. */
export function SearchField({ label, value, onSearch, placeholder }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const search = useRef(onSearch);
  search.current = onSearch;
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => search.current(typed), QUIET_MS);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return (
    <TextField
      type="search"
      label={label}
      value={typed}
      placeholder={placeholder}
      onChange={setTyped}
      onKeyDown={(event) => {
        if (event.key === "Enter") onSearch(typed);
      }}
    />
  );
}
