import type { Page, PageOptions, SummarizedMessage, SummaryNode } from '@heddle/client/interface'
import { limits, notFound, validationError } from '@heddle/contracts'
import { comparePositions, type Message, messageReference, type Position, positionOf } from '@heddle/core'
import { loadCoveredAfter, loadSummaryParts, type Tx, toCompactionState } from '@heddle/store'
import { type CursorList, cursorIn, cursorOf, placeAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'
import { loadSummaryTrees, type SummaryTree, type TreePart } from './summary-parts.js'

/** A page of summaries is short: each may have a thousand tokens. */
const NODES_DEFAULT = 50
const MESSAGES_DEFAULT = 20
/** Characters of the messages of one page, which has one at least. */
const PAGE_CHARACTERS_MAX = 1_000_000
/** The id of the last summary of the page before. */
const SUMMARY_PLACE = /^[0-9a-f-]{1,64}$/
/** Messages read to find the first covered one: those between were held raw. */
const FIRST_READ = 50

export interface SummariesOptions extends PageOptions {
  readonly thread: string
}

export interface SummaryMessagesOptions extends SummariesOptions {
  readonly summary: string
}

/**
 * The summaries of a thread in force: the one that contexts show, then the parts that it was made from, each before its own
 * parts; then those of other budgets, models and strategies that requests asked for. A part that several were made from is
 * listed once, below the first of them. A thread without a summary has none.
 *
 * @throws PermanentError `NOT_FOUND`; `VALIDATION_ERROR` for a cursor of another list, or after a summary that a compaction
 *   has replaced since
 */
export async function listSummaries(
  parts: EngineContext,
  { thread, limit = NODES_DEFAULT, ...page }: SummariesOptions,
): Promise<Page<SummaryNode>> {
  const list: CursorList = { kind: 'summaries', ownerId: `${parts.projectId} ${thread}` }
  const [previous] = placeAt(list, page, SUMMARY_PLACE) ?? []
  const nodesMax = Math.min(limit, limits.pageItemsMax)
  return await parts.store.inProject(parts.projectId, async (tx) => {
    const nodes = nodesOf(await loadSummaryTrees(tx, parts, thread))
    const before = previous === undefined ? -1 : nodes.findIndex(({ part }) => part.id === previous)
    if (previous !== undefined && before === -1) {
      throw validationError(
        'cursor',
        'must follow a summary in force; a compaction replaced it, list from the start',
        cursorIn(page),
      )
    }
    const from = before + 1
    const shown = nodes.slice(from, from + nodesMax)
    const [texts, places] = await Promise.all([
      textsOf(tx, shown),
      Promise.all(shown.map(({ tree, part }) => placesOf(tx, tree, part))),
    ])
    const items = shown.map(({ tree, part: { id, kind, parent, children } }, index) => ({
      id,
      kind,
      parent,
      children: [...children],
      summary: kind === 'whole' ? tree.state.summary : (texts.get(id) ?? null),
      summarizer: tree.state.summarizer,
      lane: kind === 'whole' ? tree.lane : null,
      ...(places[index] ?? { from: null, to: null }),
    }))
    const last = from + shown.length < nodes.length ? shown.at(-1) : undefined
    return { items, nextCursor: last === undefined ? null : cursorOf(list, last.part.id) }
  })
}

interface Node {
  readonly tree: SummaryTree
  readonly part: TreePart
}

/** The parts of all trees, each once: lanes share what they cut at the same messages. */
function nodesOf(trees: readonly SummaryTree[]): Node[] {
  const nodes = new Map<string, Node>()
  for (const tree of trees) {
    for (const part of tree.parts) if (!nodes.has(part.id)) nodes.set(part.id, { tree, part })
  }
  return [...nodes.values()]
}

/** The stored summaries of parts by their ids. */
async function textsOf(tx: Tx, nodes: readonly Node[]): Promise<ReadonlyMap<string, string>> {
  const trees = [...new Set(nodes.map(({ tree }) => tree))]
  const texts = await Promise.all(
    trees.map(({ thread: { threadId }, state: { summarizer } }, index) => {
      const own = nodes.filter(({ tree, part }) => tree === trees[index] && part.kind !== 'whole')
      const hashes = own.map(({ part }) => part.id)
      return loadSummaryParts(tx, { threadId, summarizer: summarizer ?? '', hashes })
    }),
  )
  return new Map(texts.flatMap((found) => [...found]))
}

async function placesOf(tx: Tx, tree: SummaryTree, part: TreePart): Promise<Pick<SummaryNode, 'from' | 'to'>> {
  const [first, last] = await Promise.all([
    coveredIn(tx, tree, { after: part.after, to: part.to, limit: FIRST_READ }),
    tree.lastOf(tx, part),
  ])
  const [from] = first.messages
  return { from: from === undefined ? null : toPlace(from), to: last === null ? null : toPlace(last) }
}

/** `1700000000000_0_018f…`: a position in a conversation. */
const PLACE = /^(-?\d{1,15})_(-?\d{1,10})_([0-9a-f-]{36})$/

/**
 * The messages that a summary covers, as they were stored, oldest first.
 *
 * @throws PermanentError `NOT_FOUND` for an unknown thread or summary, also for one that a later compaction replaced
 */
export async function listSummaryMessages(
  parts: EngineContext,
  { thread, summary, limit = MESSAGES_DEFAULT, ...page }: SummaryMessagesOptions,
): Promise<Page<SummarizedMessage>> {
  const list: CursorList = { kind: 'summaries', ownerId: `${parts.projectId} ${summary}` }
  const [, atMs, ordinal, id] = placeAt(list, page, PLACE) ?? []
  const given = id === undefined ? null : { orderedAtMs: Number(atMs), ordinal: Number(ordinal), id }
  return await parts.store.inProject(parts.projectId, async (tx) => {
    const found = nodesOf(await loadSummaryTrees(tx, parts, thread)).find(({ part }) => part.id === summary)
    if (found === undefined) {
      throw notFound('summary', summary, 'list the summaries of the thread: a later compaction may have replaced it')
    }
    const { tree, part } = found
    const limitOfPage = Math.min(limit, limits.pageItemsMax)
    const read = await coveredIn(tx, tree, { after: given ?? part.after, to: part.to, limit: limitOfPage })
    const messages = withinCharacters(read.messages)
    const isCut = messages.length < read.messages.length
    const last = messages.at(-1)
    const next = isCut && last !== undefined ? positionOf(last) : read.next
    return {
      items: messages.map(toSummarized),
      nextCursor: next === null ? null : cursorOf(list, `${next.orderedAtMs}_${next.ordinal}_${next.id}`),
    }
  })
}

/** Covered messages after a position, up to another. */
async function coveredIn(
  tx: Tx,
  { thread, state }: SummaryTree,
  { after, to, limit }: { after: Position | null; to: Position; limit: number },
): Promise<{ messages: readonly Message[]; next: Position | null }> {
  const { threadId, clearedSeq } = thread
  const query = { threadId, clearedSeq, state: toCompactionState(state), after, limit }
  const { messages, next } = await loadCoveredAfter(tx, query)
  return {
    messages: messages.filter((message) => comparePositions(message, to) <= 0),
    next: next === null || comparePositions(next, to) >= 0 ? null : next,
  }
}

function withinCharacters(messages: readonly Message[]): readonly Message[] {
  let characters = 0
  const end = messages.findIndex(({ content }) => {
    characters += content.length
    return characters > PAGE_CHARACTERS_MAX
  })
  return end === -1 ? messages : messages.slice(0, Math.max(1, end))
}

function toPlace(message: Message) {
  return {
    messageId: message.restores?.id ?? message.id,
    seq: message.seq,
    reference: messageReference(message.code),
    at: isoTime(message.orderedAtMs),
  }
}

function toSummarized(message: Message): SummarizedMessage {
  const { role, content, toolCalls, toolName, tokens } = message
  return {
    ...toPlace(message),
    role,
    content,
    toolCalls: toolCalls.length === 0 ? undefined : [...toolCalls],
    toolName: toolName ?? undefined,
    tokens,
  }
}
