import { useCallback, useMemo } from "react";
import { useSearchParams } from "wouter";

/**
 * Ranges, filters and choices live in the address, so that a link shows the same to somebody else. Everything is text
 * there; what equals its default is left out.
 */
export function useUrlState<T extends Record<string, string>>(defaults: T): [T, (changes: Partial<T>) => void] {
  const [search, setSearch] = useSearchParams();
  const names = Object.keys(defaults).join();
  const query = search.toString();
  const state = useMemo(
    () => Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, search.get(name) ?? value])) as T,
    [query, names, Object.values(defaults).join()],
  );
  const change = useCallback(
    (changes: Partial<T>) =>
      setSearch(
        (before) => {
          const next = new URLSearchParams(before);
          for (const [name, value] of Object.entries(changes)) {
            if (value === undefined || value === defaults[name]) next.delete(name);
            else next.set(name, value);
          }
          return next;
        },
        { replace: true },
      ),
    [setSearch, names],
  );
  return [state, change];
}
