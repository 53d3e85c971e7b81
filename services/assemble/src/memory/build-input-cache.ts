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
import type { LoadedForBuild } from '../load/load.js'
import { counted } from '../load/load-history.js'

/** A message with what is found out of it, besides its texts; and what a token of them takes. */
const MESSAGE_BYTES = 1_200
const TOKEN_BYTES = 5
/** What a context takes that was made of messages, and each of its tokens: in messages, lines, receipt and JSON. */
const CONTEXT_BYTES = 10_000
const CONTEXT_TOKEN_BYTES = 12
/** Messages by which a thread may have grown; past that it is read anew, which is one round trip more. */
const GROWTH_MAX = 200
/** Tokens of messages that are counted here, about: more hold the event loop for too long. */
const COUNTED_TOKENS_MAX = 12_000

/** What the last context of a request was made of, and for how long the next one is made of the same. */
interface WarmThread {
  readonly loaded: LoadedForBuild
  readonly dependence: Dependence
}

/** What has become of a thread since it was kept. */
export interface Changes {
  readonly versions: string
  /** Those that came; one more than are of use where there are many. */
  readonly messages: readonly Message[]
}

/**
 * What contexts were made of, by the request that asked for them: those used last. Each is asked for its version before it
 * is used. A thread that has only grown is used with what came; where anything else has changed, it is read anew.
 */
export class BuildInputCache {
  readonly #threads: LRUCache<string, WarmThread>

  /** @param bytesMax of all that is kept, and of all that is made of it */
  constructor(bytesMax: number) {
    this.#threads = new LRUCache({ maxSize: bytesMax })
  }

  find(key: string | undefined): WarmThread | null {
    return (key === undefined ? undefined : this.#threads.get(key)) ?? null
  }

  keep(key: string, loaded: LoadedForBuild): void {
    const { dependence, input, awaitsPruning } = loaded
    // A pruning that is awaited is to be asked for again, until it has come.
    if (dependence === null || awaitsPruning) return
    this.#threads.set(key, { loaded, dependence }, { size: bytesOf(input) })
  }
}

/** About; what is measured differs by less than a quarter. */
function bytesOf({ messages, request, settings }: LoadedForBuild['input']): number {
  const tokens = messages.reduce((sum, message) => sum + message.tokens, 0)
  const shownTokens = Math.min(tokens, request.budget ?? settings.budget ?? tokens)
  return messages.length * MESSAGE_BYTES + tokens * TOKEN_BYTES + CONTEXT_BYTES + shownTokens * CONTEXT_TOKEN_BYTES
}

export async function loadChanges(tx: Tx, { loaded, dependence }: WarmThread): Promise<Changes> {
  const { threadId } = loaded.thread
  const [versions, messages] = await Promise.all([
    loadVersions(tx, { threadId, lane: dependence.lane }),
    loadMessagesBySeq(tx, { threadId, afterSeq: loaded.input.headSeq, limit: GROWTH_MAX + 1 }),
  ])
  return { versions, messages }
}

/**
 * What a context is made of now: what is kept, and what came since.
 *
 * @param asOfMs the moment that the context shows
 * @returns null where the thread must be read anew
 */
export function warmed(
  { loaded, dependence }: WarmThread,
  { versions, messages }: Changes,
  asOfMs: number,
): LoadedForBuild | null {
  const growth = growthBetween(dependence.versions, versions)
  const isOver = dependence.holdsUntilMs !== null && dependence.holdsUntilMs <= asOfMs
  if (growth === null || isOver || growth.toSeq - growth.fromSeq !== messages.length) return null
  if (messages.length === 0) return loaded
  // A mark that a restore left is no new message, and tells of one that was hidden; much to count is counted elsewhere.
  if (messages.some(({ restores }) => restores !== undefined)) return null
  if (messages.reduce((sum, { tokens, tokensExact }) => sum + (tokensExact ? 0 : tokens), 0) > COUNTED_TOKENS_MAX)
    return null
  const { input, thread } = loaded
  // A thread that goes on is compacted for a cache from then on, unless somebody said that its budget is to be filled.
  if (input.fill === 'budget' && (input.request.fill ?? input.settings.fill) !== 'budget') return null
  // Past the cap, messages that come push out others.
  if (input.messages.length + messages.length > CONVERSATION_MESSAGES_MAX) return null
  const { settings } = input
  const window = { rollingWindow: settings.rollingWindow, ...thread, nowMs: asOfMs }
  const bounds = windowBounds(window)
  const within = messages.filter((message) => isInWindow(message, bounds))
  const holdsUntilMs = within.reduce(
    (untilMs, { orderedAtMs }) => Math.min(untilMs, orderedAtMs + (settings.rollingWindow ?? 0) * 1_000),
    dependence.holdsUntilMs ?? Number.POSITIVE_INFINITY,
  )
  return {
    ...loaded,
    thread: { ...thread, headSeq: growth.toSeq },
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
}

function addAside(before: Readonly<Record<string, number>>, messages: readonly Message[]): Record<string, number> {
  const counts = { ...before }
  for (const message of messages) {
    const reason = ineligibleReason(message)
    if (reason !== null) counts[reason] = (counts[reason] ?? 0) + 1
  }
  return counts
}

/** What is kept is of one thread: of several it is read anew each time. */
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
