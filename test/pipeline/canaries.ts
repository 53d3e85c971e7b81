import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import postgres from 'postgres'

/** Finds which of some words occur in a value, however it is compressed, escaped or nested. */
export function findWords(value: unknown, words: readonly string[]): Set<string> {
  const found = new Set<string>()
  const look = (text: string) => {
    for (const word of words) if (text.includes(word)) found.add(word)
  }
  for (const text of textsOf(value, 0)) look(text)
  return found
}

/** A value in a value in a value: jobs are JSON in JSON, contexts are deflated JSON. */
const LEVELS_MAX = 6

function* textsOf(value: unknown, level: number): Generator<string> {
  if (level > LEVELS_MAX || value === null || value === undefined) return
  if (typeof value === 'string') {
    yield value
    const decoded = parsed(value)
    if (decoded !== undefined) yield* textsOf(decoded, level + 1)
    const bytes = /^(?:\\x)?[0-9a-f]{8,}$/i.test(value) ? Buffer.from(value.replace('\\x', ''), 'hex') : null
    if (bytes !== null) yield* textsOf(bytes, level + 1)
  } else if (value instanceof Uint8Array) {
    yield Buffer.from(value).toString('latin1')
    for (const open of [brotliDecompressSync, inflateSync, gunzipSync]) {
      const opened = attempt(() => open(value))
      if (opened !== undefined) yield* textsOf(opened.toString('utf8'), level + 1)
    }
  } else if (typeof value === 'object') {
    for (const [key, part] of Object.entries(value)) {
      yield key
      yield* textsOf(part, level)
    }
  }
}

/** JSON, or a text with escapes in it. */
function parsed(text: string): unknown {
  if (!/["\\{[]/.test(text)) return undefined
  const decoded = attempt(() => JSON.parse(text) as unknown)
  if (decoded !== undefined) return decoded
  return text.includes('\\u')
    ? text.replace(/\\u([0-9a-f]{4})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    : undefined
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** The places of each word: `schema.table.column`. Reads every column of every table of the database, as its owner. */
export async function searchDatabase(url: string, words: readonly string[]): Promise<Map<string, Set<string>>> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    const places = new Map<string, Set<string>>()
    const tables = await sql<{ schema: string; name: string }[]>`
      select table_schema as schema, table_name as name from information_schema.tables
      where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`
    for (const { schema, name } of tables) {
      for (const row of await sql`select * from ${sql(schema)}.${sql(name)}`) {
        for (const [column, value] of Object.entries(row)) note(places, `${schema}.${name}.${column}`, value, words)
      }
    }
    return places
  } finally {
    await sql.end()
  }
}

/** Every key under a prefix, of every type, with its whole value. */
export async function searchRedis(
  url: string,
  prefix: string,
  words: readonly string[],
): Promise<Map<string, Set<string>>> {
  const script = `
    local found = {}
    for _, key in ipairs(redis.call('keys', ARGV[1])) do
      local type = redis.call('type', key).ok
      local value = 'a key of type ' .. type
      if type == 'string' then value = redis.call('get', key)
      elseif type == 'list' then value = redis.call('lrange', key, 0, -1)
      elseif type == 'set' then value = redis.call('smembers', key)
      elseif type == 'hash' then value = redis.call('hgetall', key)
      elseif type == 'zset' then value = redis.call('zrange', key, 0, -1)
      elseif type == 'stream' then value = redis.call('xrange', key, '-', '+')
      end
      table.insert(found, cjson.encode({ key, value }))
    end
    return cjson.encode(found)`
  const places = new Map<string, Set<string>>()
  for (const entry of JSON.parse(await evaluate(url, script, `${prefix}*`)) as string[]) {
    const [key, value] = JSON.parse(entry) as [string, unknown]
    note(places, key, [key, value], words)
  }
  return places
}

export async function searchFiles(folder: string, words: readonly string[]): Promise<Map<string, Set<string>>> {
  const places = new Map<string, Set<string>>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile()) note(places, path, path, words)
    else {
      const content = await readFile(path)
      note(places, path, [path, content, content.toString('utf8')], words)
    }
  }
  return places
}

function note(places: Map<string, Set<string>>, place: string, value: unknown, words: readonly string[]): void {
  for (const word of findWords(value, words)) places.set(word, (places.get(word) ?? new Set()).add(place))
}

/** In Redis's own protocol: the driver belongs to the queues. */
async function evaluate(url: string, script: string, argument: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port || 6379), hostname)
  const command = ['EVAL', script, '0', argument]
  const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`)
  socket.write(`*${command.length}\r\n${parts.join('')}`)
  let answer = Buffer.alloc(0)
  for (;;) {
    const [data] = (await once(socket, 'data')) as [Buffer]
    answer = Buffer.concat([answer, data])
    const end = answer.indexOf('\r\n')
    const length = Number(answer.subarray(1, end).toString())
    if (answer[0] !== 36) throw new Error(`Redis said ${answer.toString()}`)
    if (end !== -1 && answer.length >= end + 2 + length + 2) {
      socket.destroy()
      return answer.subarray(end + 2, end + 2 + length).toString()
    }
  }
}
