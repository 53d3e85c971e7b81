import type { KeyHolder } from '../base/backend.js'
import type { TextQueue } from '../send/text-queue.js'

/** The commands of one tick are pipelined. A holder that ends between the two commands is also `unknown`. */
export async function readHolders(
  queue: Pick<TextQueue, 'getDeduplicationJobId' | 'getJobState'>,
  keys: readonly string[],
): Promise<ReadonlyMap<string, KeyHolder>> {
  const holders = new Map<string, KeyHolder>()
  await Promise.all(
    keys.map(async (key) => {
      const jobId = await queue.getDeduplicationJobId(key)
      if (jobId !== null) holders.set(key, { jobId, state: await queue.getJobState(jobId) })
    }),
  )
  return holders
}
