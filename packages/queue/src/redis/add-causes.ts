import type { Redis } from 'ioredis'
import type { TracedJob } from '../base/backend.js'
import { CAUSES_MAX } from '../send/carrier.js'

/** @param prefix of the keys of the queue */
export async function addCauses(redis: Redis, prefix: string, wakes: readonly TracedJob[]): Promise<void> {
  await Promise.all(
    wakes.map(({ jobId, key, carrier }) =>
      redis.heddleAddCauses(`${prefix}de:${key}`, prefix, jobId, carrier, CAUSES_MAX),
    ),
  )
}

/**
 * Adds causes to the options of the job that holds a deduplication key, unless it is the wake's own job, or a worker has fetched
 * it. Its options are JSON of BullMQ, of which only this text is replaced: parsed and written again, an empty list would become
 * an empty object.
 */
export const addCausesScript = `
local prefix, own, carrier, causes_max = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local holder = redis.call('GET', KEYS[1])
if not holder or holder == own then return nil end
local job = prefix .. holder
local options = redis.call('HGET', job, 'opts')
if not options or redis.call('EXISTS', job .. ':lock') == 1 then return nil end
local causes = string.match(options, '"tm":"([^"]*)"')
if causes then
  local _, spaces = string.gsub(causes, ' ', ' ')
  if spaces + 1 >= causes_max then return nil end
  options = string.gsub(options, '"tm":"[^"]*"', '"tm":"' .. causes .. ' ' .. carrier .. '"', 1)
else
  options = string.gsub(options, '^{', '{"tm":"' .. carrier .. '",', 1)
end
redis.call('HSET', job, 'opts', options)
return nil`
