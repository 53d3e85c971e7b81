import type { ChainableCommander, Redis } from 'ioredis'
import type { QueueDepth } from '../base/backend.js'
import { bounds } from '../base/bounds.js'

/**
 * The waiting jobs of a BullMQ queue, in two round trips: the lengths of its lists, and the lengths of some jobs' data, which
 * Redis returns without reading it.
 *
 * @param key BullMQ's key of the queue: `<prefix>:<queue>`
 */
export async function readDepth(redis: Redis, key: string): Promise<QueueDepth> {
  const lists = redis.pipeline()
  // The waiting jobs of a paused queue are in another list.
  lists.llen(`${key}:wait`).llen(`${key}:paused`)
  for (const list of ['wait', 'paused']) {
    lists.lrange(`${key}:${list}`, 0, bounds.depthSample - 1).lrange(`${key}:${list}`, -bounds.depthSample, -1)
  }
  const [waiting, paused, ...ends] = await replies(lists)
  const jobs = Number(waiting) + Number(paused)
  const jobIds = [...new Set((ends as string[][]).flat())]
  if (jobIds.length === 0) return { jobs, bytes: 0 }
  const lengths = redis.pipeline()
  for (const jobId of jobIds) lengths.hstrlen(`${key}:${jobId}`, 'data')
  const sizes = (await replies(lengths)).map(Number)
  return { jobs, bytes: (sizes.reduce((sum, size) => sum + size, 0) / sizes.length) * jobs }
}

async function replies(commands: ChainableCommander): Promise<unknown[]> {
  const results = (await commands.exec()) ?? []
  return results.map(([error, reply]) => {
    if (error !== null) throw error
    return reply
  })
}
