import { nameSchema, notFound, parse, THREAD_EXPORT_VERSION } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import {
  type ExportedPruning,
  exportHashes,
  exportHeader,
  exportItemPage,
  exportMessages,
  exportPage,
  exportPrunings,
  exportStates,
  exportStatesById,
  type ItemsPage,
  loadPartContents,
  partHashesOf,
  readArchiveContent,
  type Tx,
} from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/** States per page; each may contain a long summary. */
const STATES_PER_PAGE = 50

/**
 * A thread with its archive as the lines of a file: its items and those of its agent, messages with every field, details,
 * processes, iterations, clears, archived contents, compactions, prunings and undos, as of the start of the export. It is read
 * page by page, so a thread of any length needs little memory, and a slow reader holds no lock.
 *
 * @throws PermanentError `NOT_FOUND`
 */
export async function* exportThread(parts: EngineContext, name: string): AsyncGenerator<string> {
  const threadId = threadIdOf(parts.projectId, parse(nameSchema, name, 'thread'))
  const reader: Reader = { threadId, read: (work) => parts.store.inProject(parts.projectId, work) }
  const header = await reader.read((tx) => exportHeader(tx, { threadId }))
  if (!header) throw notFound('thread', name, 'see `heddle threads list`')
  let records = 0
  const line = (type: string, json: string) => {
    records++
    return `{"type":"${type}",${json.slice(1)}\n`
  }
  yield line('thread', `{"version":${THREAD_EXPORT_VERSION},${header.json.trim().slice(1)}`)
  // A compaction is committed together with its archive entries, so all entries of these states can be read after them.
  const states = await reader.read((tx) => exportStates(tx, { threadId }))
  for (const type of ['toolServer', 'item', 'threadItem'] as const) {
    for await (const json of itemsOf(reader, type)) yield line(type, json)
  }
  for await (const json of rowsOf(reader, 'block')) yield line('block', json)
  for (const type of ['threadVersion', 'process', 'runningProcess', 'iteration', 'progressSummary', 'clear'] as const) {
    for await (const json of rowsOf(reader, type)) yield line(type, json)
  }
  for await (const json of contentsOf(reader)) yield line('content', json)
  for await (const json of rowsOf(reader, 'archive')) yield line('archive', json)
  const numbers = new Map(states.map(({ id }, index) => [id, index + 1]))
  for (let from = 0; from < states.length; ) {
    const page = states.slice(from, from + STATES_PER_PAGE)
    const ids = page.map(({ id }) => id)
    const jsons = await reader.read((tx) => exportStatesById(tx, ids))
    if (jsons.length === 0) throw new TypeError('no state of a page was read')
    from += jsons.length
    for (const [index, json] of jsons.entries()) {
      const { id, replaces } = page[index] as (typeof page)[number]
      const names = `"number":${numbers.get(id)},"replaces":${numbers.get(replaces ?? '') ?? null}`
      if (json) yield line('state', `{${names},${json.slice(1)}`)
    }
  }
  for await (const json of pruningsOf(reader, numbers)) yield line('pruning', json)
  for await (const json of rowsOf(reader, 'undone')) yield line('undone', json)
  for await (const json of rowsOf(reader, 'pin')) yield line('pin', json)
  for await (const json of rowsOf(reader, 'fact')) yield line('fact', json)
  for await (const json of partsOf(reader, header.headSeq)) yield line('part', json)
  for (let afterSeq = 0; afterSeq < header.headSeq; ) {
    const page = await reader.read((tx) => exportMessages(tx, { threadId, afterSeq, headSeq: header.headSeq }))
    if (page.length === 0) throw notFound('thread', name, 'it was erased during the export')
    for (const json of page) yield line('message', json)
    afterSeq += page.length
  }
  yield `{"type":"end","records":${records}}\n`
}

interface Reader {
  readonly threadId: string
  readonly read: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>
}

async function* rowsOf({ threadId, read }: Reader, type: Parameters<typeof exportPage>[1]): AsyncGenerator<string> {
  let after: readonly string[] | null = null
  do {
    const from: readonly string[] | null = after
    const page: Awaited<ReturnType<typeof exportPage>> = await read((tx) =>
      exportPage(tx, type, { threadId, after: from }),
    )
    yield* page.rows
    after = page.after
  } while (after !== null)
}

async function* itemsOf(
  { threadId, read }: Reader,
  type: Parameters<typeof exportItemPage>[1],
): AsyncGenerator<string> {
  let after: ItemsPage['after'] = null
  do {
    const from: ItemsPage['after'] = after
    const page: ItemsPage = await read((tx) => exportItemPage(tx, type, { threadId, after: from }))
    yield* page.rows
    after = page.after
  } while (after !== null)
}

async function* contentsOf({ threadId, read }: Reader): AsyncGenerator<string> {
  let after: Uint8Array = new Uint8Array()
  for (;;) {
    const from = after
    const hashes = await read((tx) => exportHashes(tx, { threadId, after: from }))
    for (const hash of hashes) {
      const text = await read((tx) => readArchiveContent(tx, hash))
      const name = `\\x${Buffer.from(hash).toString('hex')}`
      if (text !== null) yield JSON.stringify({ hash: name, text })
    }
    const last = hashes.at(-1)
    if (!last) return
    after = last
  }
}

/** Read one at a time, because each may have many megabytes. */
async function* partsOf({ threadId, read }: Reader, headSeq: number): AsyncGenerator<string> {
  for (const hash of await read((tx) => partHashesOf(tx, { threadId, headSeq }))) {
    const bytes = (await read((tx) => loadPartContents(tx, [hash]))).get(hash)
    if (bytes !== undefined) yield JSON.stringify({ data: bytes.toString('base64') })
  }
}

async function* pruningsOf({ threadId, read }: Reader, numbers: ReadonlyMap<string, number>): AsyncGenerator<string> {
  let afterMessageId: string | null = null
  for (;;) {
    const from: string | null = afterMessageId
    const page: ExportedPruning[] = await read((tx) => exportPrunings(tx, { threadId, afterMessageId: from }))
    const numbered = page
      .map((pruning) => ({ ...pruning, state: numbers.get(pruning.stateId) }))
      .filter((pruning) => pruning.state !== undefined)
      .sort((left, right) => {
        if (left.messageId !== right.messageId) return left.messageId < right.messageId ? -1 : 1
        return (left.state ?? 0) - (right.state ?? 0)
      })
    for (const { state, json } of numbered) yield `{"state":${state},${json.slice(1)}`
    const last = page.at(-1)
    if (!last) return
    afterMessageId = last.messageId
  }
}
