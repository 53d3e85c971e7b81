import { type LossOptions, type LossReport, limits, lossRequestSchema, notFound, parse } from '@heddle/contracts'
import {
  AtomCollector,
  type AtomFates,
  type AtomSet,
  type FateCounts,
  fatesOf,
  ineligibleReason,
  type Message,
  messageReference,
  noCounts,
  type Position,
  readConversation,
  shownMessages,
  summarySources,
  threadIdOf,
} from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import {
  type ContextStateRow,
  loadCoveredAfter,
  loadPins,
  loadState,
  loadThread,
  loadUncovered,
  markPinned,
  type ThreadRow,
  type Tx,
  toCompactionState,
  withPrunings,
} from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/** Messages of one read. */
const PAGE_MESSAGES = 500
/** Covered messages whose details are found; a longer range is reported in part. */
const MESSAGES_MAX = 20_000
/** Messages beside the summary in which details are found. */
const SHOWN_MAX = 2_000
const LOST_DEFAULT = 100

/**
 * The details of the messages that a compaction covers, with where its contexts have each. Computed when it is requested, page
 * by page, in time linear in what is covered.
 *
 * @throws PermanentError `NOT_FOUND` for an unknown thread or compaction, or one without a summary; `VALIDATION_ERROR`
 */
export async function lossOf(parts: EngineContext, options: LossOptions): Promise<LossReport> {
  const { thread: name, compaction, kind, limit = LOST_DEFAULT } = parse(lossRequestSchema, options, 'loss')
  const { store, projectId } = parts
  const { thread, state, shown } = await store.inProject(projectId, async (tx) => {
    const found = await loadThread(tx, { threadId: threadIdOf(projectId, name) })
    if (found === null) throw notFound('thread', name, 'see `heddle threads list`')
    const row = await loadState(tx, { threadId: found.threadId, id: compaction })
    if (row === null) throw notFound('compaction', compaction, 'see `heddle threads show`')
    if (row.summary === null)
      throw notFound('summary', compaction, `the compaction is ${row.status} and has no summary`)
    return { thread: found, state: row, shown: await loadShown(tx, found, row) }
  })
  const { atoms, messagesRead, isWhole } = await collect(parts, thread, state)
  const fates = await runCooperatively(fatesOf(atoms, { summary: state.summary ?? '', messages: shown }))
  const { id, generation, status, strategy, summarizer, summaryTokens, coveredCount, coveredTokens } = state
  return {
    ...{ id, generation, status, strategy, summarizer, summaryTokens, coveredCount, coveredTokens },
    messagesRead,
    isComplete: isWhole && atoms.isComplete,
    totals: totalsOf(fates),
    kinds: [...fates.kinds].map(([of, counts]) => ({ kind: of, ...counts })),
    lost: fates.lost
      .filter((atom) => kind === undefined || atom.kind === kind)
      .slice(0, Math.min(limit, limits.pageItemsMax))
      .map(({ kind: of, text, references }) => ({ kind: of, text, references: [...references].reverse() })),
  }
}

async function loadShown(tx: Tx, { threadId, clearedSeq, lastClearedAtMs }: ThreadRow, row: ContextStateRow) {
  const bare = toCompactionState(row)
  const query = { threadId, clearedSeq, lastClearedAtMs, state: bare, limit: SHOWN_MAX, keep: 'oldest' as const }
  const [{ messages }, pins] = await Promise.all([loadUncovered(tx, query), loadPins(tx, threadId)])
  return shownMessages(markPinned(messages, pins), await withPrunings(tx, row, bare, messages))
}

interface Collected {
  readonly atoms: AtomSet
  readonly messagesRead: number
  /** Whether all covered messages were read. */
  readonly isWhole: boolean
}

/** Each page is read in a transaction of its own, so that a long range holds no connection while its texts are read. */
async function collect(
  { store, projectId }: EngineContext,
  { threadId, clearedSeq }: ThreadRow,
  row: ContextStateRow,
): Promise<Collected> {
  const state = toCompactionState(row)
  const collector = new AtomCollector()
  let after: Position | null = null
  let messagesRead = 0
  do {
    const query = { threadId, clearedSeq, state, after, limit: PAGE_MESSAGES }
    const page: Awaited<ReturnType<typeof loadCoveredAfter>> = await store.inProject(projectId, (tx) =>
      loadCoveredAfter(tx, query),
    )
    const { messages, pairs } = readConversation(page.messages.filter((one) => ineligibleReason(one) === null))
    await runCooperatively(collector.add(summarySources(messages, pairs, reference)))
    messagesRead += messages.length
    after = page.next
  } while (after !== null && messagesRead < MESSAGES_MAX)
  return { atoms: collector.result(), messagesRead, isWhole: after === null }
}

const reference = (message: Message) => messageReference(message.code)

function totalsOf({ kinds }: AtomFates): FateCounts {
  const totals = noCounts()
  for (const counts of kinds.values()) {
    for (const fate of Object.keys(totals) as (keyof FateCounts)[]) totals[fate] += counts[fate]
  }
  return totals
}
