import { type LossOptions, type LossReport, limits, lossRequestSchema, notFound, parse } from '@heddle/contracts'
import {
  type AtomFates,
  type FateCounts,
  fatesOf,
  noCounts,
  shownLedger,
  shownMessages,
  threadIdOf,
} from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import {
  type ContextStateRow,
  loadLedger,
  loadPins,
  loadState,
  loadThread,
  loadUncovered,
  markPinned,
  settingsIn,
  type ThreadRow,
  type Tx,
  toCompactionState,
  withPrunings,
} from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import { collectAtoms } from './collect-atoms.js'

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
  const { thread, state, shown, ledger } = await store.inProject(projectId, async (tx) => {
    const found = await loadThread(tx, { threadId: threadIdOf(projectId, name) })
    if (found === null) throw notFound('thread', name, 'see `heddle threads list`')
    const row = await loadState(tx, { threadId: found.threadId, id: compaction })
    if (row === null) throw notFound('compaction', compaction, 'see `heddle threads show`')
    if (row.summary === null)
      throw notFound('summary', compaction, `the compaction is ${row.status} and has no summary`)
    const stored = await loadLedger(tx, { stateId: row.id })
    return {
      ...{ thread: found, state: row, shown: await loadShown(tx, found, row) },
      ledger: shownLedger(stored, settingsIn(found, parts.settings)),
    }
  })
  const { atoms, messagesRead, isWhole } = await collectAtoms(parts, thread, toCompactionState(state))
  const fates = await runCooperatively(fatesOf(atoms, { summary: state.summary ?? '', messages: shown, ledger }))
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

function totalsOf({ kinds }: AtomFates): FateCounts {
  const totals = noCounts()
  for (const counts of kinds.values()) {
    for (const fate of Object.keys(totals) as (keyof FateCounts)[]) totals[fate] += counts[fate]
  }
  return totals
}
