import type { ContextJob, ContextResult } from '@heddle/contracts'
import { readRequestKey, sharedPrefixTokens, toPatch } from '@heddle/core'
import type { Answer, Job } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import { finishContext, packLines, type Store, stopPreparing } from '@heddle/store'
import { otherThreads } from './enrich/other-threads.js'
import type { LoadedInput } from './load/load-requested.js'
import type { MadeContext } from './memory/context-maker.js'
import type { PreviousContextCache } from './memory/previous-contexts.js'
import { outgoing } from './outgoing.js'

interface StoreContextDeps {
  readonly store: Store
  readonly tails: PreviousContextCache
  readonly clock: Clock
}

/**
 * Stores the context: whole for its requester, and for later as the difference to the previous one.
 *
 * @returns whether it is stored (see `finishContext`), and the answer, if the requester accepts it in the reply
 */
export async function storeContext(
  built: ContextResult,
  made: MadeContext,
  { input, thread, threadId, scopeErased, asOfMs, prepared, isPrepared, asked, askedLane, ifCurrent }: LoadedInput,
  { payload: { projectId, wantsAnswer, requestKey: keyOfJob }, answerBytesMax = 0 }: Job<ContextJob>,
  { store, tails, clock }: StoreContextDeps,
): Promise<{ readonly isStored: boolean; readonly answer?: Answer | undefined }> {
  const { request } = input
  const before = tails.find(threadId, request, clock.nowMs())
  const { parts } = made
  const result = before === null ? built : withSharedPrefix(built, sharedPrefixTokens(before.parts, parts))
  const others = otherThreads(projectId, result, input)
  const lines = made.linesOf(result, others.isAbout)
  const stored = packLines(result.id, lines, before?.base ?? null)
  // Only of the base with which the row is stored: the statement fails if that base was erased meanwhile.
  const { baseId } = readRequestKey(keyOfJob)
  const base = baseId !== undefined && stored.baseId === baseId && before?.base.id === baseId ? before.base : null
  const mentions = others.threadIds
  // If later contexts are prepared although the request does not say so, only the row shows it.
  const isSeenByRow = prepared !== undefined && request.prebuild === undefined
  const forms = {
    json: () => made.jsonOf(result),
    patch: base && (() => toPatch(result, { lines: lines.lines, base, digest: made.digestOf(result) })),
  }
  const { packed, answer } = await outgoing(forms, {
    answerBytesMax: wantsAnswer === true && !isSeenByRow ? answerBytesMax : 0,
    isFoundAgain: prepared !== undefined,
  })
  // Settings or items have changed since the order, so the prepared context would answer no request.
  if (isPrepared && prepared === undefined)
    await store.inProject(projectId, (tx) => stopPreparing(tx, { id: result.id }))
  let isStored: boolean
  try {
    isStored = await store.inProject(
      projectId,
      (tx) => {
        const isFillChosen = request.fill === undefined
        const { erasedCount } = thread
        const { recalledIds, sharers } = others
        const kept = {
          packed,
          stored,
          asOfMs,
          prepared,
          mentions,
          sharers,
          asked,
          isFillChosen,
          erasedCount,
          scopeErased,
          recalledIds,
          ifCurrent,
        }
        return finishContext(tx, { id: result.id, result, ...kept, askedLane: askedLane ?? undefined })
      },
      // With mentioned threads, the transaction first checks that they still exist, so the commit cannot be sent with it.
      { together: mentions.length === 0, arePlansKept: true },
    )
  } catch (error) {
    // The next attempt uses no base that may have been removed.
    tails.forget(threadId, request)
    throw error
  }
  if (!isStored) return { isStored }
  // Only now: another worker may have stored this context with other messages, and later ones must not be based on such lines.
  tails.remember(threadId, request, { base: stored.asBase, parts }, clock.nowMs())
  return { isStored, answer }
}

function withSharedPrefix(result: ContextResult, tokens: number): ContextResult {
  return { ...result, receipt: { ...result.receipt, sharedPrefixTokens: tokens } }
}
