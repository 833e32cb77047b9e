/** The value, or a failure when it takes longer. The work itself goes on. */
export async function within<T>(ms: number, value: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${ms} ms.`)), ms);
  });
  return Promise.race([value, late]).finally(() => clearTimeout(timer));
}
