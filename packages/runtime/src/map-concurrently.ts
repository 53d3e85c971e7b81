import { Limiter } from './limiter.js'

export interface ConcurrencyOptions {
  readonly atOnce: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Processes items with limited concurrency. The first failure aborts the signal of running work, and no further work is
 * started.
 *
 * @returns the results in the order of the items
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
  { atOnce, signal }: ConcurrencyOptions,
): Promise<Result[]> {
  const limiter = new Limiter({ atOnce })
  const failed = new AbortController()
  const either = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal])
  const begin = async (item: Item) => {
    either.throwIfAborted()
    return await work(item, either)
  }
  try {
    return await Promise.all(items.map((item) => limiter.run(() => begin(item))))
  } catch (error) {
    failed.abort(error)
    throw error
  }
}
