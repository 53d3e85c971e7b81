/** Runs work for each item, at most `limit` at once. */
export async function inParallel<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item, index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const runner = async () => {
    for (let index = next++; index < items.length; index = next++) await work(items[index] as Item, index)
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, runner))
}
