import type { ChainableCommander, Redis } from 'ioredis'
import type { QueueDepth } from '../base/backend.js'
import { bounds } from '../base/bounds.js'

/**
 * What waits in one of BullMQ's queues: its lists of waiting jobs know their lengths, and Redis knows the length of a
 * job's data without reading it. Two round trips.
 *
 * @param key where BullMQ keeps the queue: `<prefix>:<queue>`
 */
export async function readDepth(redis: Redis, key: string): Promise<QueueDepth> {
  const lists = redis.pipeline()
  // A paused queue keeps its jobs in a list of its own.
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
