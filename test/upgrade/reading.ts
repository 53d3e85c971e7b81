import type { Checkout, Place } from './checkout.js'
import { type Answer, type Door, openDoor } from './door.js'
import { untilSettled } from './settled.js'
import { OTHER_PROJECT, type Written } from './write-data.js'

/** The answers to a reader, by request. */
export type Readings = Map<string, unknown>

/** Concurrent requests. */
const PARALLEL = 8
/** Above the size of any message of the data. */
const TOKENS_MAX = 5_000_000
const encoded = encodeURIComponent

interface Named {
  readonly name: string
}

/** Reads all stored data of a version, as readers do: over HTTP, and by commands if there is no route. */
export async function readAll(
  checkout: Checkout,
  place: Place,
  { written, queries, before }: { written: Written; queries: readonly string[]; before?: Readings },
): Promise<Readings> {
  const readings: Readings = new Map()
  const up = await checkout.up(place)
  try {
    const door = openDoor(up.url, written.adminKey)
    await untilSettled(door)
    const { get, list, post } = recorder(readings, door)
    const agents = (await list('/v1/agents')) as Named[]
    for (const { name } of agents) await readAgent(`/v1/agents/${encoded(name)}`, { get, list })
    const threads = (await list('/v1/threads')) as Named[]
    for (const { name } of threads) await readThread(name, written, { get, list, post })
    const archived = (await list('/v1/archive')) as { ref: string }[]
    await inParallel(archived, ({ ref }) => post('/v1/recall', { ref, maxTokens: TOKENS_MAX }))
    // References from the old version are requested, whether or not they are still listed.
    await inParallel(recallsOf(before), ([name, body]) => (readings.has(name) ? done : post('/v1/recall', body)))
    for (const query of queries) {
      for (const by of ['words', 'meaning', 'both']) await post('/v1/search', { query, by, limit: 10 })
      await post('/v1/archive/search', { query, limit: 10 })
    }
    await readAsOthers(readings, up.url, { written, reference: archived.at(-1)?.ref ?? '' })
    await get(`/v1/threads/${encoded(written.erasedThread)}`)
    await get(`/v1/agents/${encoded(written.erasedAgent)}`)
    await post(`/v1/threads/${encoded(written.erasedThread)}/messages`, {
      agent: 'coder',
      messages: [{ role: 'user', content: 'Is the name free?' }],
    })
    for (const argv of [
      ['keys', 'list'],
      ['grants', 'list'],
      ['settings', 'list', '--agent', 'coder'],
    ])
      readings.set(`heddle ${argv.join(' ')}`, await checkout.run(place, ...argv))
    readings.set('heddle grants list, other', await checkout.run(place, 'grants', 'list', '--project', OTHER_PROJECT))
    return readings
  } finally {
    await up.stop()
  }
}

const done = Promise.resolve()
const RECALL = 'POST /v1/recall '

function recallsOf(readings: Readings = new Map()): [name: string, body: Record<string, unknown>][] {
  return [...readings.keys()]
    .filter((name) => name.startsWith(RECALL))
    .map((name) => [name, JSON.parse(name.slice(RECALL.length))])
}

interface Reader {
  get(path: string): Promise<Answer>
  list(path: string): Promise<readonly unknown[]>
  post(path: string, body: Readonly<Record<string, unknown>>): Promise<Answer>
}

function recorder(readings: Readings, door: Door): Reader {
  const kept = async <T>(name: string, asking: Promise<T>): Promise<T> => {
    const value = await asking
    readings.set(name, value)
    return value
  }
  return {
    get: (path) => kept(`GET ${path}`, door.ask('GET', path)),
    list: (path) => kept(`LIST ${path}`, door.list(path)),
    post: (path, body) => kept(`POST ${path} ${JSON.stringify(body)}`, door.ask('POST', path, body)),
  }
}

async function readAgent(agent: string, { get, list }: Pick<Reader, 'get' | 'list'>): Promise<void> {
  await get(agent)
  await get(`${agent}/items/stats`)
  const items = (await list(`${agent}/items`)) as { type: string; name: string; version: number }[]
  for (const { type, name, version } of items)
    for (let older = 1; older <= version; older++) await get(`${agent}/items/${type}/${encoded(name)}?version=${older}`)
  const snapshots = (await list(`${agent}/snapshots`)) as { id: string }[]
  for (const { id } of snapshots) await get(`/v1/snapshots/${id}`)
}

async function readThread(name: string, { momentBeforeClear }: Written, { get, list, post }: Reader): Promise<void> {
  const thread = `/v1/threads/${encoded(name)}`
  await get(thread)
  const messages = (await list(`${thread}/messages`)) as { reference: string }[]
  await inParallel(messages, ({ reference: ref }) => post('/v1/recall', { ref, thread: name, maxTokens: TOKENS_MAX }))
  await list(`${thread}/iterations`)
  await list(`${thread}/processes`)
  await get(`${thread}/items`)
  await get(`${thread}/contexts/at/${momentBeforeClear}`)
  const contexts = (await list(`${thread}/contexts`)) as { id: string }[]
  for (const { id } of contexts) {
    await get(`/v1/contexts/${id}`)
    await get(`/v1/contexts/${id}/receipt`)
  }
  for (const [index, { id }] of contexts.slice(1).entries()) await get(`/v1/contexts/${id}/diff/${contexts[index]?.id}`)
}

/** With keys: that of the other project reads the granted data, a revoked one reads nothing. */
async function readAsOthers(
  readings: Readings,
  url: string,
  { written, reference }: { written: Written; reference: string },
): Promise<void> {
  const other = openDoor(url, written.otherKey)
  readings.set('other project: threads', await other.list('/v1/threads'))
  readings.set(
    'other project: recall of what was granted',
    await other.ask('POST', '/v1/recall', { ref: reference, maxTokens: TOKENS_MAX }),
  )
  readings.set('revoked key', (await openDoor(url, written.revokedKey).ask('GET', '/v1/agents')).status)
}

async function inParallel<T>(entries: readonly T[], work: (entry: T) => Promise<unknown>): Promise<void> {
  const left = entries.values()
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      for (const entry of left) await work(entry)
    }),
  )
}
