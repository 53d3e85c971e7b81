import type { Redis, Result } from 'ioredis'
import { bounds } from '../base/bounds.js'
import { addCausesScript } from './add-causes.js'
import { backlogScript } from './backlog.js'

/*
 * Scripts that handle many jobs in BullMQ's keys at a time. BullMQ adds, fetches and finishes one job with each script, and
 * records each step of a job as an event. These scripts change the same keys in the same way, without the events, which have
 * no reader here. Jobs with a deduplication key, retries and failures use BullMQ's own scripts.
 */

/** A job in `taken`: its id, the token of its lock, and its fields in this order. */
export type RawJob = readonly [
  id: string,
  token: string,
  name: string,
  data: string,
  opts: string | null,
  timestamp: string | null,
  attemptsStarted: number,
  attemptsMade: string | null,
  stalledCount: string | null,
  deduplicationId: string | null,
  failedReason: string | null,
]

declare module 'ioredis' {
  interface RedisCommander<Context> {
    heddleAddCauses(
      key: string,
      prefix: string,
      jobId: string,
      carrier: string,
      causesMax: number,
    ): Result<null, Context>
    heddleAddJobs(
      wait: string,
      id: string,
      meta: string,
      marker: string,
      prefix: string,
      ...jobs: (string | number)[]
    ): Result<null, Context>
    heddleBacklog(
      wait: string,
      paused: string,
      prioritized: string,
      delayed: string,
      meta: string,
      prefix: string,
    ): Result<[waiting: number, prioritized: number, due: number, paused: number, oldestWaitMs: number], Context>
    heddleTurnJobs(
      wait: string,
      active: string,
      stalled: string,
      delayed: string,
      meta: string,
      marker: string,
      prefix: string,
      nowMs: number,
      lockMs: number,
      takes: number,
      token: string,
      ...ended: string[]
    ): Result<[kept: string[], nextAtMs: number, taken: RawJob[]], Context>
  }
}

export function defineScripts(redis: Redis): void {
  redis.defineCommand('heddleAddCauses', { numberOfKeys: 1, lua: addCausesScript })
  redis.defineCommand('heddleAddJobs', { numberOfKeys: 4, lua: addJobs })
  redis.defineCommand('heddleBacklog', { numberOfKeys: 5, lua: backlogScript, readOnly: true })
  redis.defineCommand('heddleTurnJobs', { numberOfKeys: 6, lua: turnJobs })
}

/** Adds independent jobs, each given as id, name, data, options and time; a job whose id exists is skipped. */
const addJobs = `
local wait, counter, meta, marker = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local added = {}
for at = 2, #ARGV, 5 do
  local id = ARGV[at]
  local key = ARGV[1] .. id
  if redis.call('EXISTS', key) == 0 then
    redis.call('HSET', key, 'name', ARGV[at + 1], 'data', ARGV[at + 2], 'opts', ARGV[at + 3], 'timestamp', ARGV[at + 4],
      'delay', 0, 'priority', 0)
    added[#added + 1] = id
  end
end
if #added > 0 then
  redis.call('INCRBY', counter, #added)
  redis.call('LPUSH', wait, unpack(added))
  if redis.call('HEXISTS', meta, 'paused') == 0 then redis.call('ZADD', marker, 0, '0') end
end
return nil`

/**
 * Removes finished jobs, each given as id and the token of its lock, and fetches the next ones. A job that could not be
 * removed is returned in `kept`, and is handled by BullMQ. The marker wakes waiting workers: it stays while jobs wait.
 */
const turnJobs = `
local wait, active, stalled, delayed, meta, marker = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local prefix, now, lock_ms, takes, token = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), ARGV[5]
local kept = {}
for at = 6, #ARGV, 2 do
  local id = ARGV[at]
  local key = prefix .. id
  if redis.call('GET', key .. ':lock') == ARGV[at + 1] and redis.call('LREM', active, -1, id) > 0 then
    redis.call('DEL', key, key .. ':lock', key .. ':logs')
    redis.call('SREM', stalled, id)
  else
    kept[#kept + 1] = id
  end
end
local taken = {}
local next_at = 0
if takes > 0 then
  local due = redis.call('ZRANGEBYSCORE', delayed, 0, (now + 1) * 0x1000 - 1, 'WITHSCORES', 'LIMIT', 0, 1000)
  -- Set by a clock that was ahead.
  local beyond =
    redis.call('ZRANGEBYSCORE', delayed, (now + ${bounds.dueMsMax}) * 0x1000, '+inf', 'WITHSCORES', 'LIMIT', 0, 1000)
  for _, each in ipairs(beyond) do due[#due + 1] = each end
  for at = 1, #due, 2 do
    local id = due[at]
    redis.call('ZREM', delayed, id)
    redis.call('LPUSH', wait, id)
    -- Its wait is counted from here: BullMQ keeps only the time at which it was added.
    local due_at = math.min(now, math.floor(tonumber(due[at + 1]) / 0x1000))
    redis.call('HSET', prefix .. id, 'delay', 0, 'dueAt', string.format('%.0f', due_at))
  end
  if redis.call('HEXISTS', meta, 'paused') == 0 then
    local characters = 0
    while #taken < takes and characters < ${bounds.batchCharactersMax} do
      local id = redis.call('RPOPLPUSH', wait, active)
      if not id then break end
      local key = prefix .. id
      local job = redis.call('HMGET', key, 'name', 'data', 'opts', 'timestamp', 'atm', 'stc', 'deid', 'failedReason')
      if job[1] then
        local held = token .. '-' .. #taken
        redis.call('SET', key .. ':lock', held, 'PX', lock_ms)
        redis.call('HSET', key, 'processedOn', now)
        local started = redis.call('HINCRBY', key, 'ats', 1)
        characters = characters + #(job[2] or '')
        taken[#taken + 1] = {id, held, job[1], job[2], job[3], job[4], started, job[5], job[6], job[7], job[8]}
      else
        redis.call('LREM', active, 1, id)
        redis.call('DEL', key)
      end
    end
    if redis.call('LLEN', wait) > 0 then redis.call('ZADD', marker, 0, '0') end
  end
  if #taken < takes then
    local soonest = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
    if soonest[2] then next_at = math.floor(tonumber(soonest[2]) / 0x1000) end
  end
end
return {kept, next_at, taken}`
