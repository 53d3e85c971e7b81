import type { BullQueue } from '../stage-queue.js'

/** The state of the job that holds each of some keys against double wakes. What is asked in one tick travels together. */
export async function readHolders(
  queue: Pick<BullQueue, 'getDeduplicationJobId' | 'getJobState'>,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(
    keys.map(async (key) => {
      const holder = await queue.getDeduplicationJobId(key)
      return holder === null ? null : ([key, await queue.getJobState(holder)] as const)
    }),
  )
  return new Map(found.filter((each) => each !== null))
}
