import { EMBEDDED_CHARACTERS_MAX, quantizeVector, type SourceMessage, sourceOf, type VectorBlock } from '@heddle/core'
import { EventLoopYielder } from '@heddle/runtime'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'

/** Messages that are read at once. */
const ROWS_READ = 200
/** Texts that go to the embedder at once. */
const TEXTS_AT_ONCE = 1_000

/** Makes vectors of texts, in their order, as the embedder of the model would when they are stored. */
export type RemakeVectors = (texts: readonly string[]) => Promise<readonly Float32Array[]>

/** A thread of which some vectors are missing in memory. */
export interface UnmadeThread extends Columns<'postingThreads', 'number'> {
  readonly threadId: string
  readonly afterSeq: number
  readonly toSeq: number
  readonly block: VectorBlock
}

/**
 * Makes vectors of messages from their texts and appends them to the blocks of their threads, in the order of storing. Rows
 * that an earlier version stored were appended already: their messages are left out.
 */
export async function appendRemade(tx: Tx, threads: readonly UnmadeThread[], remake: RemakeVectors): Promise<void> {
  const unmade = new Map(threads.map((thread) => [thread.number, { ...thread, stored: seqsOf(thread) }]))
  let waiting: { block: VectorBlock; seq: number; texts: string[] }[] = []
  let textCount = 0
  const flush = async () => {
    const some = waiting
    waiting = []
    textCount = 0
    const vectors = await remake(some.flatMap(({ texts }) => texts))
    let from = 0
    for (const { block, seq, texts } of some) {
      const of = vectors.slice(from, from + texts.length).map(quantizeVector)
      if (of.length < texts.length) throw new Error('the embedder gave fewer vectors than texts')
      for (const vector of of) block.append([seq], vector)
      from += texts.length
    }
  }
  const yielder = new EventLoopYielder()
  for await (const rows of texts(tx, threads).cursor(ROWS_READ)) {
    for (const { number, contentEscaped, ...row } of rows) {
      const next = yielder.next()
      if (next !== null) await next
      const thread = unmade.get(number)
      if (thread === undefined || thread.stored.has(row.seq)) continue
      const source = sourceOf({ ...row, content: contentEscaped ? (JSON.parse(row.content) as string) : row.content })
      if (source === null) continue
      waiting.push({ block: thread.block, seq: row.seq, texts: source.chunks.map(({ text }) => text) })
      textCount += source.chunks.length
      if (textCount >= TEXTS_AT_ONCE) await flush()
    }
  }
  if (textCount > 0) await flush()
}

type TextRow = SourceMessage & Columns<'postingThreads', 'number'> & Columns<'messages', 'contentEscaped'>

/** The beginnings of contents, as far as they are embedded. A mark that a restore left is indexed at its message alone. */
function texts(tx: Tx, threads: readonly UnmadeThread[]) {
  return tx<TextRow[]>`
    select given.number, message.seq, message.role, message.kept_aside, message.content_escaped, message.content
    from unnest(
      ${asArray(threads.map(({ number }) => number))}::bigint[],
      ${asArray(threads.map(({ threadId }) => threadId))}::uuid[],
      ${asArray(threads.map(({ afterSeq }) => afterSeq))}::bigint[],
      ${asArray(threads.map(({ toSeq }) => toSeq))}::bigint[]) as given (number, thread_id, after_seq, to_seq)
    cross join lateral (
      select
        seq, role, kept_aside, content_escaped,
        case when content_escaped then content else left(content, ${EMBEDDED_CHARACTERS_MAX}) end as content
      from heddle.messages
      where messages.thread_id = given.thread_id and messages.seq > given.after_seq and messages.seq <= given.to_seq
        and messages.restores_seq is null
      order by messages.seq
      offset 0) as message`
}

function seqsOf({ block, afterSeq }: UnmadeThread): ReadonlySet<number> {
  return new Set(block.seqs.subarray(0, block.count).filter((seq) => seq > afterSeq))
}
