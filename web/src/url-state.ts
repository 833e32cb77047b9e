import { useCallback, useMemo } from "react";
import { useSearchParams } from "wouter";

/**
 * Ranges, filters and choices live in the address, so that a link shows the same page to others. All values are texts; a
 * value that equals its default is left out.
 */
export function useUrlState<T extends Record<string, string>>(defaults: T): [T, (changes: Partial<T>) => void] {
  const [noticed, setSearch] = useSearchParams();
  const names = Object.keys(defaults).join();
  const query = noticed.toString();
  const search = useMemo(addressSearch, [query]);
  const state = useMemo(
    () => Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, search.get(name) ?? value])) as T,
    [query, names, Object.values(defaults).join()],
  );
  const change = useCallback(
    (changes: Partial<T>) =>
      setSearch(
        () => {
          const next = addressSearch();
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

/** The chosen tab, kept in the address; the first tab if the address names no known one. */
export function useUrlTab<Name extends string>(names: readonly Name[]): [Name, (name: string) => void] {
  const [{ tab }, change] = useUrlState<{ tab: string }>({ tab: names[0]! });
  return [names.find((name) => name === tab) ?? names[0]!, (name) => change({ tab: name })];
}

/**
 * Reads the address itself: the router decodes it once before handing it over, which would lose a percent sign in a value.
 */
function addressSearch(): URLSearchParams {
  return new URLSearchParams(window.location.search);
}
