import { once } from 'node:events'
import { connect } from 'node:net'
import postgres from 'postgres'

/** The address of queues: a server, and their prefix there. */
export interface QueuePlace {
  backend: { kind: 'postgres' | 'redis'; url: string }
  prefix: string
}

/** The effect of a flushed Redis or a truncated schema on connected clients. */
export async function emptyQueues({ backend, prefix }: QueuePlace): Promise<void> {
  if (backend.kind === 'redis') {
    const script = "for _, key in ipairs(redis.call('keys', ARGV[1])) do redis.call('unlink', key) end return 'OK'"
    await onRedis(backend.url, ['EVAL', script, '0', `${prefix}:*`])
  } else {
    const tables = ['job', 'dedup', 'dedup_next', 'meta', 'event']
    const schema = queueSchema(prefix)
    await onPostgres(backend.url, `TRUNCATE ${tables.map((table) => `"${schema}".${table}`).join(', ')} CASCADE`)
  }
}

/** Removes all events from the logs: those of the queues, and that of the store, from which subscribers resume. */
export async function trimEvents({ backend, prefix }: QueuePlace, databaseUrl: string): Promise<void> {
  await onPostgres(databaseUrl, 'DELETE FROM heddle.events')
  if (backend.kind === 'postgres') return await onPostgres(backend.url, `DELETE FROM "${queueSchema(prefix)}".event`)
  const script =
    "for _, key in ipairs(redis.call('keys', ARGV[1])) do redis.call('xtrim', key, 'MAXLEN', 0) end return 'OK'"
  await onRedis(backend.url, ['EVAL', script, '0', `${prefix}:*:events`])
}

/**
 * Turns payloads that wait in the queue of a stage into invalid JSON, as a manual change would: those that contain
 * `marker`.
 */
export async function breakPayloads({ backend, prefix }: QueuePlace, stage: string, marker: string): Promise<void> {
  if (backend.kind === 'redis') {
    const queue = `${prefix}:heddle-${stage}`
    // A paused queue may keep waiting jobs in a separate list.
    const script = `for _, list in ipairs({'wait', 'paused'}) do
      for _, id in ipairs(redis.call('lrange', KEYS[1] .. ':' .. list, 0, -1)) do
        local key = KEYS[1] .. ':' .. id
        if string.find(redis.call('hget', key, 'data'), ARGV[1], 1, true) then redis.call('hset', key, 'data', ARGV[2]) end
      end
    end return 'OK'`
    await onRedis(backend.url, ['EVAL', script, '1', queue, marker, BROKEN])
  } else {
    // jsonb is always JSON; a text in it may be anything.
    await onPostgres(
      backend.url,
      `UPDATE "${queueSchema(prefix)}".job SET data = to_jsonb('${BROKEN}'::text)
       WHERE queue = 'heddle-${stage}' AND state = 'waiting' AND position('${marker}' in data::text) > 0`,
    )
  }
}

const BROKEN = '{"projectId": "half a job'

/** The schema of the queues on a Postgres. */
export function queueSchema(prefix: string): string {
  return `${prefix.replaceAll('-', '_')}_queue`
}

/** One command, in Redis's own protocol: the driver belongs to the package under test. */
export async function onRedis(url: string, command: readonly string[]): Promise<void> {
  const answer = await askRedis(url, command)
  if (!/^[+:]|^\$2\r\nOK/.test(answer)) throw new Error(`Redis said ${answer}`)
}

/** The same, for an answer of a few kilobytes. */
export async function askRedis(url: string, command: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port || 6379), hostname)
  const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`)
  socket.write(`*${command.length}\r\n${parts.join('')}`)
  const [answer] = await once(socket, 'data')
  socket.destroy()
  return String(answer)
}

export async function onPostgres(url: string, statement: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}
