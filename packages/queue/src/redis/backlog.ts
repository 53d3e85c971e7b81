import type { Redis } from 'ioredis'
import type { Backlog } from '../base/backend.js'
import { bounds } from '../base/bounds.js'

/**
 * The backlog of a BullMQ queue, in one command. Calls within a tick share a round trip.
 *
 * @param key BullMQ's key of the queue: `<prefix>:<queue>`
 */
export async function readBacklog(redis: Redis, key: string): Promise<Backlog> {
  const [waiting, prioritized, due, paused, oldestWaitMs] = await redis.heddleBacklog(
    `${key}:wait`,
    `${key}:paused`,
    `${key}:prioritized`,
    `${key}:delayed`,
    `${key}:meta`,
    `${key}:`,
  )
  return { waiting, prioritized, due, paused: paused === 1, oldestWaitMs: oldestWaitMs === -1 ? null : oldestWaitMs }
}

/**
 * The server's clock decides about delays and ages, so that all processes get the same figures. Jobs with a priority are
 * ordered by it first, so each priority has an oldest job of its own.
 */
export const backlogScript = `
local wait, paused, prioritized, delayed, meta = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local prefix = ARGV[1]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local oldest = now + 1
local function see(id)
  local job = redis.call('HMGET', prefix .. id, 'timestamp', 'dueAt')
  local since = tonumber(job[1])
  if since then oldest = math.min(oldest, math.max(since, tonumber(job[2]) or 0), now) end
end
for _, list in ipairs({wait, paused}) do
  for _, id in ipairs(redis.call('LRANGE', list, -${bounds.backlogSample}, -1)) do see(id) end
end
local from = '-inf'
for _ = 1, ${bounds.backlogPrioritiesMax} do
  local first = redis.call('ZRANGEBYSCORE', prioritized, from, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if not first[1] then break end
  see(first[1])
  from = string.format('%.0f', (math.floor(tonumber(first[2]) / 0x100000000) + 1) * 0x100000000)
end
local soonest = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
if soonest[2] then oldest = math.min(oldest, math.max(0, math.floor(tonumber(soonest[2]) / 0x1000))) end
local due = redis.call('ZCOUNT', delayed, '-inf', string.format('%.0f', (now + 1) * 0x1000 - 1))
  + redis.call('ZCOUNT', delayed, string.format('%.0f', (now + ${bounds.dueMsMax}) * 0x1000), '+inf')
local waiting = redis.call('LLEN', wait) + redis.call('LLEN', paused)
local ranked = redis.call('ZCARD', prioritized)
return {waiting + ranked, ranked, due, redis.call('HEXISTS', meta, 'paused'), oldest > now and -1 or now - oldest}`
