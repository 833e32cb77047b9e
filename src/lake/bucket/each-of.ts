/** Works on all items, several at once. After a failure it begins no more, waits for those that were begun, and fails. */
export async function eachOf<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  let failure: { error: unknown } | undefined;
  const next = async () => {
    for (const item of left) {
      if (failure) return;
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, next));
  if (failure) throw failure.error;
}
