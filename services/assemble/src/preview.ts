import {
  type ContextRequest,
  type ContextResult,
  type PartialSettings,
  PermanentError,
  RetryableError,
} from '@heddle/contracts'
import { type TextEmbedder, threadIdOf } from '@heddle/core'
import { LargeJobError, refuseLargeJob, type WorkSize } from '@heddle/queue'
import { type Clock, Limiter, type Logger } from '@heddle/runtime'
import type { Store } from '@heddle/store'
import { chooseItems } from './enrich/choose-items.js'
import { recallMemories } from './enrich/recall-memories.js'
import { loadBuildInput } from './load/load.js'
import { ContextMaker } from './memory/context-maker.js'
import { SelectionCache } from './memory/selection-cache.js'
import { TokenCounter } from './memory/token-counter.js'

export interface PreviewDeps {
  readonly store: Store
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
  /** Settings of the file and the environment, under those of agents. */
  readonly settings: PartialSettings
  /** Opens the embedder that selects items; null if it cannot be loaded. */
  readonly embedder: (() => Promise<TextEmbedder | null>) | null
}

export interface PreviewRequest {
  readonly projectId: string
  readonly deadlineMs: number
}

/** Builds a context that is not stored. */
export type Preview = (request: ContextRequest, how: PreviewRequest) => Promise<Omit<ContextResult, 'id'>>

/**
 * A preview is built on the event loop of its program, which serves others meanwhile, so its input has the size of an
 * ordinary context. Larger ones are built by workers, which store them.
 */
const SIZE_MAX: WorkSize = { messages: 2_000, tokens: 200_000 }
/** They share that event loop, so one is built at a time, for one project after another. */
const AT_ONCE = 1
const WAIT_MS_MAX = 5_000

/**
 * Builds contexts as the stage does, and writes nothing: no row, no event, no record of the requested settings, and no
 * access of the memories. A preview that waits too long for others is refused with `RATE_LIMITED`.
 */
export function createPreview({ embedder: open, ...deps }: PreviewDeps): Preview {
  const { store, clock } = deps
  const parts = { ...deps, counter: new TokenCounter(), selections: new SelectionCache() }
  const limiter = new Limiter({ atOnce: AT_ONCE, clock, deadline: { timeoutMs: WAIT_MS_MAX, error: tooMany } })
  return (request, { projectId, deadlineMs }) => {
    const deadlineAtMs = clock.nowMs() + deadlineMs
    return limiter.run(() => preview(request, projectId, deadlineAtMs), { key: projectId })
  }

  async function preview(request: ContextRequest, projectId: string, deadlineAtMs: number) {
    const asOfMs = clock.nowMs()
    const threadId = threadIdOf(projectId, request.thread)
    const load = { ...parts, projectId, asOfMs, sizeMax: SIZE_MAX }
    const loaded = await store
      .inProject(projectId, (tx) => loadBuildInput(tx, { request, threadId }, load), { snapshot: true })
      .catch(refuseLarge)
    refuseLargeInput(loaded.input.messages)
    const embedder = (await open?.()) ?? null
    const enrich = { ...parts, embedder, isKept: false }
    const items =
      loaded.items && (await chooseItems(enrich, projectId, { ...loaded.items, input: loaded.input, deadlineAtMs }))
    const input = items === null ? loaded.input : { ...loaded.input, items }
    // Of its own, because the maker keeps what it made as long as its input.
    const maker = new ContextMaker()
    const { built } = maker.make(input)
    const { thread } = loaded
    const memories = await recallMemories(enrich, { projectId, threadId, thread, input, built, deadlineAtMs })
    const result = memories === null ? built : maker.make({ ...input, memories }).built
    return embedder?.dimensions ? { ...result, receipt: { ...result.receipt, embedder: embedder.model } } : result
  }
}

function tooMany(): RetryableError {
  return new RetryableError('RATE_LIMITED', 'other previews are being built', { retryAfter: 1 })
}

function refuseLargeInput(messages: readonly { readonly tokens: number }[]): void {
  try {
    const tokens = messages.reduce((sum, message) => sum + message.tokens, 0)
    refuseLargeJob({ messages: messages.length, tokens }, SIZE_MAX)
  } catch (error) {
    refuseLarge(error)
  }
}

function refuseLarge(error: unknown): never {
  if (!(error instanceof LargeJobError)) throw error
  const { messages, tokens } = error.size
  throw new PermanentError(
    'PAYLOAD_TOO_LARGE',
    `a preview reads at most ${SIZE_MAX.messages} messages and ${SIZE_MAX.tokens} tokens (found ${messages} and ${tokens})`,
    { field: 'store', hint: 'Build it without `store: false`, or shorten it with rollingWindow or scope.' },
  )
}
