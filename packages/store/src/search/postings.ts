import { promisify } from 'node:util'
import { deflate, deflateSync, inflate, inflateSync } from 'node:zlib'
import { type Block, buildSegment, mergeSegments, type SearchDocument, type Segment, segmentBytes } from '@heddle/core'
import { EventLoopYielder, runCooperatively } from '@heddle/runtime'
import type { Tx } from '../connection/connection.js'
import { commitBehind } from '../connection/transaction.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'

const deflatedApart = promisify(deflate)
const inflatedApart = promisify(inflate)

/**
 * Bytes up to which a block is compressed at once, in a fraction of a millisecond: most have 2,400. Passing one to a thread
 * takes several times as long, and leaves much to the garbage collector.
 */
const AT_ONCE_BYTES_MAX = 16_384

/**
 * Bytes that are allocated for an inflated block, and once more for each time it has more: most have 2,400. The default of
 * 16 KB would be most of the garbage of a search, which reads some hundreds of blocks.
 */
const INFLATED_BYTES = 4_096

async function deflated(bytes: Uint8Array): Promise<Buffer> {
  return bytes.length <= AT_ONCE_BYTES_MAX ? deflateSync(bytes) : await deflatedApart(bytes)
}

/** The words of one message, by its place in the order of storing. */
export interface IndexedMessage extends SearchDocument {
  readonly seq: number
}

/** Segments of one level that are merged into one of the next. */
const SEGMENTS_MERGED = 8

/**
 * The level of the largest segments, by bytes of their postings, from 2 MB: a search has to look for each of its terms in each
 * segment. Merging these as well would take seconds.
 */
const LEVEL_MAX = 4
const LEVEL_0_BYTES_MAX = 4_096
/** The level of which no more than eight are merged at once, since they are large. */
const LARGE_LEVEL = 3

/**
 * Adds the words of a thread's messages to the scope of its agent. Messages that are indexed already are skipped, so a
 * replay adds nothing. The transaction must hold the lock of the thread.
 *
 * @param toSeq the `seq` up to which all messages of the thread were given, including those without words
 * @param options.postings of {@link holdPostings}; default: they are held here
 * @param options.isLast whether nothing follows in the transaction, which then commits with the words
 * @returns whether segments wait for {@link mergePostings}
 */
export async function appendPostings(
  tx: Tx,
  {
    threadId,
    agentId,
    toSeq,
    messages,
  }: {
    threadId: string
    agentId: string
    toSeq: number
    messages: readonly IndexedMessage[]
  },
  { postings, isLast = false }: { readonly postings?: HeldPostings; readonly isLast?: boolean } = {},
): Promise<boolean> {
  const thread = postings ?? (await holdPostings(tx, { threadId, agentId }))
  if (thread.toSeq >= toSeq) return false
  const added = messages.filter(({ seq }) => seq > thread.toSeq)
  const segment = buildSegment(added.map((message) => ({ ...message, thread: thread.number })))
  const packed = await packSegment(segment)
  const { level } = packed
  const [waiting] = await Promise.all([
    // Of those before the new one, which is counted below.
    countSegments(tx, { agentId, level }),
    tx`
      update heddle.posting_threads
      set to_seq = ${toSeq}, documents = documents + ${segment.documents}, length = length + ${segment.length}
      where thread_id = ${threadId}`,
    added.length > 0 && insertSegment(tx, agentId, packed),
    isLast && commitBehind(tx),
  ])
  return waiting + 1 >= SEGMENTS_MERGED && level < LEVEL_MAX
}

/** How far the words of a thread are indexed, and its number in postings. */
export type HeldPostings = Columns<'postingThreads', 'number' | 'toSeq'>

/**
 * Locks the words of a thread until the commit. A thread without words gets its number.
 *
 * @throws Error where the thread was erased meanwhile
 */
export async function holdPostings(
  tx: Tx,
  { threadId, agentId }: { threadId: string; agentId: string },
): Promise<HeldPostings> {
  return (await lockThread(tx, threadId)) ?? (await addThread(tx, threadId, agentId))
}

async function lockThread(tx: Tx, threadId: string): Promise<HeldPostings | undefined> {
  const [thread] = await tx<HeldPostings[]>`
    select number, to_seq from heddle.posting_threads where thread_id = ${threadId} for no key update`
  return thread
}

async function addThread(tx: Tx, threadId: string, agentId: string): Promise<HeldPostings> {
  await tx`
    insert into heddle.posting_threads (thread_id, agent_id) values (${threadId}, ${agentId})
    on conflict (thread_id) do nothing`
  const thread = await lockThread(tx, threadId)
  if (thread === undefined) throw new Error('the thread was erased while its messages were indexed')
  return thread
}

/**
 * Merges segments of each level that has eight or more, once. One worker at a time does so for a scope; others return at
 * once. Call it in a separate transaction.
 */
export async function mergePostings(tx: Tx, { agentId }: { agentId: string }): Promise<void> {
  // Sent at once: each list is read after the lock, and sees all that was committed before it was taken.
  const [[lock], ...ofLevels] = await Promise.all([
    tx<{ taken: boolean }[]>`
      select pg_try_advisory_xact_lock(${LOCK_SPACE}::integer, hashtext(${agentId})) as taken`,
    ...Array.from({ length: LEVEL_MAX }, (_, level) => segmentsOfLevel(tx, { agentId, level })),
  ])
  if (lock?.taken !== true) return
  let isMerged = false
  for (const [level, found] of ofLevels.entries()) {
    // A segment that was merged here may be of this level.
    const numbers = isMerged ? await segmentsOfLevel(tx, { agentId, level }) : found
    if (numbers.length < SEGMENTS_MERGED) continue
    const rows = await Promise.all(numbers.map((number) => readSegment(tx, number)))
    const segments = await oneByOne(rows, unpackSegment)
    await replaceSegments(tx, { agentId, numbers, by: await runCooperatively(mergeSegments(segments)) })
    isMerged = true
  }
}

/** The oldest segments of a level, as many as are merged at once. */
async function segmentsOfLevel(tx: Tx, { agentId, level }: { agentId: string; level: number }): Promise<number[]> {
  const rows = await tx<{ number: number }[]>`
    select number from heddle.posting_segments
    where ${ofScope(tx, agentId)} and level = ${level}
    order by number
    limit ${level < LARGE_LEVEL ? SEGMENTS_MERGED * 8 : SEGMENTS_MERGED}`
  return rows.map(({ number }) => number)
}

/** An arbitrary number that separates these advisory locks from others in the database. */
const LOCK_SPACE = 46_804_681

/** Locks the segments of a scope against merges until the commit. */
export async function lockPostings(tx: Tx, agentId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${LOCK_SPACE}::integer, hashtext(${agentId}))`
}

function ofScope(tx: Tx, agentId: string) {
  return tx`
    project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid) and agent_id = ${agentId}`
}

function levelOf(segment: Segment): number {
  let level = 0
  for (let bytes = segmentBytes(segment); bytes > LEVEL_0_BYTES_MAX && level < LEVEL_MAX; bytes /= 8) level++
  return level
}

async function countSegments(tx: Tx, { agentId, level }: { agentId: string; level: number }): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count from heddle.posting_segments where ${ofScope(tx, agentId)} and level = ${level}`
  return row?.count ?? 0
}

export async function loadSegment(tx: Tx, number: number): Promise<Segment> {
  return await unpackSegment(await readSegment(tx, number))
}

interface StoredSegment extends Omit<Segment, 'blocks'> {
  readonly blocks: readonly PostingBlock[]
}

async function readSegment(tx: Tx, number: number): Promise<StoredSegment> {
  const [[row], blocks] = await Promise.all([
    tx<Columns<'postingSegments', 'documents' | 'length' | 'threads'>[]>`
      select documents, length, to_json(threads) as threads from heddle.posting_segments where number = ${number}`,
    tx<PostingBlock[]>`
      select first_term, postings from heddle.posting_blocks where segment = ${number} order by first_term`,
  ])
  if (row === undefined) throw new Error(`segment ${number} is gone`)
  return { ...row, blocks }
}

async function unpackSegment(segment: StoredSegment): Promise<Segment> {
  return { ...segment, blocks: await oneByOne(segment.blocks, unpack) }
}

type PostingBlock = Columns<'postingBlocks', 'firstTerm' | 'postings'>

async function unpack({ firstTerm, postings }: PostingBlock): Promise<Block> {
  return { firstTerm, bytes: await unpackPostings(postings) }
}

/** Each block takes a fraction of a millisecond, and a large segment has a thousand: other work runs between them. */
async function oneByOne<From, To>(items: readonly From[], work: (item: From) => Promise<To>): Promise<To[]> {
  const turns = new EventLoopYielder()
  const done: To[] = []
  for (const item of items) {
    await turns.next()
    done.push(await work(item))
  }
  return done
}

export async function unpackAllPostings(blocks: readonly Pick<PostingBlock, 'postings'>[]): Promise<Uint8Array[]> {
  return await oneByOne(blocks, ({ postings }) => unpackPostings(postings))
}

async function unpackPostings(postings: Uint8Array): Promise<Uint8Array> {
  return postings.length <= AT_ONCE_BYTES_MAX
    ? inflateSync(postings, { chunkSize: INFLATED_BYTES })
    : await inflatedApart(postings)
}

/** @param by the replacement; nothing is inserted if it has no documents */
export async function replaceSegments(
  tx: Tx,
  { agentId, numbers, by }: { agentId: string; numbers: readonly number[]; by: Segment },
): Promise<void> {
  const packed = await packSegment(by)
  await Promise.all([
    tx`delete from heddle.posting_segments where number = any(${asArray(numbers)}::bigint[])`,
    by.documents > 0 && insertSegment(tx, agentId, packed),
  ])
}

/** A segment with its blocks as they are stored. */
interface PackedSegment extends Omit<Segment, 'blocks'> {
  readonly level: number
  readonly blocks: readonly { readonly first_term: string; readonly postings: string }[]
}

async function packSegment(segment: Segment): Promise<PackedSegment> {
  const blocks = await oneByOne(segment.blocks, async ({ firstTerm, bytes }) => ({
    first_term: firstTerm,
    postings: (await deflated(bytes)).toString('base64'),
  }))
  return { ...segment, level: levelOf(segment), blocks }
}

async function insertSegment(tx: Tx, agentId: string, segment: PackedSegment): Promise<void> {
  const { level, documents, length, threads, blocks } = segment
  await tx`
    with segment as (
      insert into heddle.posting_segments (agent_id, level, documents, length, threads)
      values (
        ${agentId}, ${level}, ${documents}, ${length}, ${asArray(threads)}::bigint[])
      returning number
    )
    insert into heddle.posting_blocks (segment, first_term, postings)
    select segment.number, block.first_term, decode(block.postings, 'base64')
    from segment
    cross join json_to_recordset(${JSON.stringify(blocks)}::text::json) as block (first_term text, postings text)
    order by block.first_term`
}
