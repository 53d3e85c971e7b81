import {
  type HiddenMessages,
  hiddenReason,
  ineligibleReason,
  isInWindow,
  type Message,
  windowBounds,
} from '@heddle/core'
import {
  CONVERSATION_MESSAGES_MAX,
  type Dependence,
  growthBetween,
  loadMessagesBySeq,
  loadVersions,
  type Tx,
} from '@heddle/store'
import { LRUCache } from 'lru-cache'
import { mustBeRecorded } from '../load/asked-lane.js'
import type { LoadedForBuild } from '../load/load.js'
import { counted } from '../load/load-history.js'

/** Estimated memory of a message without its texts, with the names of its texts, and of each token of the texts. */
const MESSAGE_BYTES = 1_000
const TOKEN_BYTES = 5
/** Estimated memory of a built context, of each message that it shows, and of each of its tokens: in lines, receipt and JSON. */
const CONTEXT_BYTES = 10_000
const SHOWN_MESSAGE_BYTES = 2_700
const SHOWN_TOKEN_BYTES = 2
/** New messages that can be added to a cached input; with more, the thread is read again, which costs a round trip. */
const GROWTH_MAX = 200
/** Approximate tokens that are counted on this thread: more would block the event loop for too long. */
const COUNTED_TOKENS_MAX = 12_000

/** Reads that must find a thread unchanged before a context is built without one, if it has often changed then. */
const READS_NEEDED_MAX = 64

/** The input of a request's last context, and how long it stays valid. */
interface WarmThread {
  readonly loaded: LoadedForBuild
  readonly dependence: Dependence
  /** Of the messages that were shown since the thread was read: what is derived from them is kept as long as they are. */
  readonly shownTokens: number
  /** Reads since the last change, of which each found the thread unchanged. */
  readonly unchangedReads: number
  /** So many of them are needed before a context is built without a read: more after each time that the thread had changed. */
  readonly readsNeeded: number
}

/** Changes of a thread since its input was cached. */
export interface Changes {
  readonly versions: string
  /** New messages, at most one more than can be used. */
  readonly messages: readonly Message[]
}

/**
 * Caches the inputs of contexts by request, least recently used first out. The version is checked before each use. If the
 * thread has only grown, the new messages are added; after any other change it is read again.
 */
export class BuildInputCache {
  readonly #threads: LRUCache<string, WarmThread>

  /** @param bytesMax of all cached inputs and the contexts built from them */
  constructor(bytesMax: number) {
    this.#threads = new LRUCache({ maxSize: bytesMax })
  }

  find(key: string | undefined): WarmThread | null {
    return (key === undefined ? undefined : this.#threads.get(key)) ?? null
  }

  keep(key: string, loaded: LoadedForBuild): void {
    const { dependence, input, awaitsPruning, askedLane } = loaded
    const before = this.#threads.peek(key)
    // Not cached while a pruning is awaited, so that the next context requests it again; nor with a lane that is recorded only
    // now, so that the next context reads its record.
    if (dependence === null || awaitsPruning || askedLane !== null) {
      this.#threads.delete(key)
      return
    }
    const shownTokens = shownSince(before, input)
    const size = bytesOf(input.messages, shownTokens)
    this.#threads.set(key, { loaded, dependence, shownTokens, ...presumptionAfter(before, loaded) }, { size })
  }

  /**
   * The input of a request whose thread was the same for the last two contexts, so that the next one can be built before it is read.
   *
   * @param asOfMs the point in time that the context shows
   * @returns null if the thread is to be read first
   */
  presumed(key: string, asOfMs: number): { readonly loaded: LoadedForBuild; readonly dependence: Dependence } | null {
    const kept = this.find(key)
    if (kept === null || !isPresumed(kept)) return null
    return isOver(kept.dependence, asOfMs) || isOutdated(kept.loaded, asOfMs) ? null : kept
  }
}

function isPresumed({ unchangedReads, readsNeeded }: Pick<WarmThread, 'unchangedReads' | 'readsNeeded'>): boolean {
  return unchangedReads >= readsNeeded
}

function presumptionAfter(
  before: WarmThread | undefined,
  loaded: LoadedForBuild,
): Pick<WarmThread, 'unchangedReads' | 'readsNeeded'> {
  if (before === undefined) return { unchangedReads: 0, readsNeeded: 1 }
  const { unchangedReads, readsNeeded } = before
  if (before.loaded === loaded) return { unchangedReads: unchangedReads + 1, readsNeeded }
  return {
    unchangedReads: 0,
    readsNeeded: isPresumed(before) ? Math.min(readsNeeded * 2, READS_NEEDED_MAX) : readsNeeded,
  }
}

/** An upper estimate: each new message of a thread is shown once, and a budget may have been filled before. */
function shownSince(before: WarmThread | undefined, { messages, request, settings }: LoadedForBuild['input']): number {
  const tokens = tokensOf(messages)
  const known = before?.loaded.input.messages
  if (before !== undefined && known !== undefined && known[0] === messages[0])
    return Math.min(tokens, before.shownTokens + tokens - tokensOf(known))
  return Math.min(tokens, request.budget ?? settings.budget ?? tokens)
}

/** An estimate, within a quarter of measured sizes of contexts that fill their budgets. */
function bytesOf(messages: readonly Message[], shownTokens: number): number {
  const tokens = tokensOf(messages)
  const shownMessages = tokens === 0 ? messages.length : (messages.length * shownTokens) / tokens
  const bytes = messages.length * MESSAGE_BYTES + tokens * TOKEN_BYTES + CONTEXT_BYTES
  return Math.ceil(bytes + shownMessages * SHOWN_MESSAGE_BYTES + shownTokens * SHOWN_TOKEN_BYTES)
}

function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, { tokens }) => sum + tokens, 0)
}

export async function loadChanges(tx: Tx, { loaded, dependence }: WarmThread): Promise<Changes> {
  const { threadId } = loaded.thread
  const [versions, messages] = await Promise.all([
    loadVersions(tx, { threadId, lanes: dependence.lanes }),
    loadMessagesBySeq(tx, { threadId, afterSeq: loaded.input.headSeq, limit: GROWTH_MAX + 1 }),
  ])
  return { versions, messages }
}

/**
 * Merges a cached input with later messages.
 *
 * @param asOfMs the point in time that the context shows
 * @returns null if the thread must be read again
 */
export function warmed(
  { loaded, dependence }: WarmThread,
  { versions, messages }: Changes,
  asOfMs: number,
): LoadedForBuild | null {
  const growth = growthBetween(dependence.versions, versions)
  if (growth === null || isOver(dependence, asOfMs) || growth.toSeq - growth.fromSeq !== messages.length) return null
  if (messages.length === 0) return isOutdated(loaded, asOfMs) ? null : loaded
  // A restore marker refers to a hidden message, so the thread is read again; many messages are counted elsewhere.
  if (messages.some(({ restores }) => restores !== undefined)) return null
  const addedTokens = tokensOf(messages)
  if (messages.reduce((sum, { tokens, tokensExact }) => sum + (tokensExact ? 0 : tokens), 0) > COUNTED_TOKENS_MAX)
    return null
  const { input, thread } = loaded
  // From its next message on, a thread is compacted for caching, unless the fill was set explicitly or is that of a stand-in.
  const isFillKept = loaded.isFilledBesideOwn || (input.request.fill ?? input.settings.fill) === 'budget'
  if (input.fill === 'budget' && !isFillKept) return null
  // Beyond the limit, new messages displace others.
  if (input.messages.length + messages.length > CONVERSATION_MESSAGES_MAX) return null
  const { settings } = input
  const window = { rollingWindow: settings.rollingWindow, ...thread, nowMs: asOfMs }
  const bounds = windowBounds(window)
  const within = messages.filter((message) => isInWindow(message, bounds))
  const holdsUntilMs = within.reduce(
    (untilMs, { orderedAtMs }) => Math.min(untilMs, orderedAtMs + (settings.rollingWindow ?? 0) * 1_000),
    dependence.holdsUntilMs ?? Number.POSITIVE_INFINITY,
  )
  const grown = {
    ...loaded,
    thread: { ...thread, headSeq: growth.toSeq, tokensEstimate: thread.tokensEstimate + addedTokens },
    dependence: { ...dependence, versions, holdsUntilMs: settings.rollingWindow === null ? null : holdsUntilMs },
    input: {
      ...input,
      headSeq: growth.toSeq,
      messages: [...input.messages, ...within.map((message) => counted(message, input))],
      ineligible: addAside(input.ineligible, messages),
      hidden: (input.hidden ?? []).map((one) => addHidden(one, messages, window)),
      imported: input.imported + messages.filter((message) => ineligibleReason(message) === null).length,
    },
  }
  return isOutdated(grown, asOfMs) ? null : grown
}

function isOver({ holdsUntilMs }: Dependence, asOfMs: number): boolean {
  return holdsUntilMs !== null && holdsUntilMs <= asOfMs
}

/** Whether the lane of the request is to be recorded, which needs a new read. */
function isOutdated({ laneRecord, thread }: LoadedForBuild, asOfMs: number): boolean {
  return laneRecord !== null && mustBeRecorded(laneRecord, thread, asOfMs)
}

function addAside(before: Readonly<Record<string, number>>, messages: readonly Message[]): Record<string, number> {
  const counts = { ...before }
  for (const message of messages) {
    const reason = ineligibleReason(message)
    if (reason !== null) counts[reason] = (counts[reason] ?? 0) + 1
  }
  return counts
}

/** Only inputs of one thread are cached; those of several are read each time. */
function addHidden(
  before: HiddenMessages,
  messages: readonly Message[],
  window: Parameters<typeof hiddenReason>[1],
): HiddenMessages {
  const eligible = messages.filter((message) => ineligibleReason(message) === null)
  const reasons = eligible.map((message) => hiddenReason(message, window))
  const count = (wanted: string) => reasons.filter((reason) => reason === wanted).length
  return {
    ...before,
    outsideWindow: before.outsideWindow + count('outside-window'),
    beforeClear: before.beforeClear + count('before-clear'),
    imported: before.imported + eligible.length,
  }
}
