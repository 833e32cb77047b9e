/** Lists by key: a Map, or a UserMap. */
type Lists<K, V> = { get: (key: K) => V[] | undefined; set: (key: K, list: V[]) => unknown };

/** Adds a value to the list of its key. */
export function pushTo<K, V>(lists: Lists<K, V>, key: K, value: V): void {
  const known = lists.get(key);
  if (known) known.push(value);
  else lists.set(key, [value]);
}
