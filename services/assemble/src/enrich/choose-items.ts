import { errorData } from '@heddle/contracts'
import {
  type BuildInput,
  type ContextItems,
  fitSelection,
  itemsWithout,
  itemsWithSelection,
  itemText,
  selectedRoomTokens,
  type TextEmbedder,
} from '@heddle/core'
import type { Clock, Logger } from '@heddle/runtime'
import { relevantItems, type Store } from '@heddle/store'
import type { LoadedItems } from '../load/load-items.js'
import type { SelectionCache } from '../memory/selection-cache.js'
import { inTime } from './in-time.js'
import { queryOf } from './query-of.js'

export interface ChooseItemsDeps {
  readonly store: Store
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
  readonly embedder?: TextEmbedder | null
  readonly selectionTimeoutMs?: number
  readonly selections: SelectionCache
  /** Whether vectors of new items are stored. Default true. */
  readonly isKept?: boolean
}

export interface ItemChoice extends LoadedItems {
  readonly input: BuildInput
  /** When the requester stops waiting, in milliseconds since 1970. */
  readonly deadlineAtMs: number
}

const SELECTION_TIMEOUT_MS = 10_000
/** Largest share of the request's remaining time for a selection; the context is built in the rest. */
const SHARE_OF_DEADLINE = 0.5

/**
 * The items of a context: those of the thread, and those that match the request. If the selection fails or times out, the
 * context is built without the selected items, and the receipt says so (docs/items.md).
 */
export async function chooseItems(deps: ChooseItemsDeps, projectId: string, choice: ItemChoice): Promise<ContextItems> {
  const { share, input, deadlineAtMs } = choice
  const { store, embedder = null, log, clock, selections, selectionTimeoutMs = SELECTION_TIMEOUT_MS } = deps
  if (!input.settings.search.enabled) return itemsWithout(choice, 'the selection is switched off: search.enabled')
  const query = queryOf(input)
  if (query === null) return itemsWithout(choice, 'neither the request nor the thread has a text to select by')
  if (embedder === null) return itemsWithout(choice, 'there is no embedder')
  const timeoutMs = Math.floor(Math.min(selectionTimeoutMs, (deadlineAtMs - clock.nowMs()) * SHARE_OF_DEADLINE))
  try {
    const items = share.candidates
    const limits = limitsOf(choice)
    const { model } = embedder
    const selecting = selections.find({ projectId, model, query, limits, candidates: items }, (like) =>
      relevantItems({ store, embedder, projectId, items, query: like, limits, isKept: deps.isKept }),
    )
    return itemsWithSelection(
      choice,
      embedder.model,
      await inTime(selecting, { timeoutMs, clock, what: 'the selection' }),
    )
  } catch (error) {
    const { code, detail } = errorData(error)
    log.warn({ error, projectId, model: embedder.model }, 'a context is built without selected items')
    return itemsWithout(choice, `${code}: ${detail}`)
  }
}

/** The parameters of a selection, scaled to the budget if the settings say so. */
function limitsOf({ input: { settings, count }, share: { candidates } }: ItemChoice) {
  const { topK, topN, includeScore, minScore, wordShare, types, fitBudget } = settings.search
  const limits = { topK, topN, includeScore, minScore, wordShare, types }
  if (!fitBudget) return limits
  const itemTokens = candidates.map((item) => count(itemText(item)))
  return fitSelection(limits, { roomTokens: selectedRoomTokens(settings), itemTokens })
}
