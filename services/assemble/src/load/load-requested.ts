import type { ContextJob } from '@heddle/contracts'
import { isToBePrepared, type Message, preparedKey, readRequestKey, requestKey } from '@heddle/core'
import { refuseLargeJob, type WorkSize } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import { type AskedContext, type Dependence, hadLessTime, loadContext, type Prepared, type Tx } from '@heddle/store'
import { type BuildInputCache, loadChanges, warmed } from '../memory/build-input-cache.js'
import { requestOf } from '../record-failure.js'
import type { LoadDeps } from './describe.js'
import { type LoadedForBuild, loadBuildInput } from './load.js'
import { refuseExpired } from './refuse-expired.js'

/** The loaded input of a requested context. */
export interface LoadedInput extends LoadedForBuild {
  readonly threadId: string
  /** The point in time that the context shows. */
  readonly asOfMs: number
  readonly prepared?: Prepared
  /** Whether it was ordered ahead of a request. */
  readonly isPrepared: boolean
  readonly deadlineAtMs: number
  /** Set if the request has no row. */
  readonly asked?: AskedContext | undefined
  /** Set if it was not compared with the thread: the versions that the thread must still have when the context is stored. */
  readonly ifCurrent?: Dependence
}

interface RequestDeps extends Omit<LoadDeps, 'projectId' | 'asOfMs'> {
  readonly clock: Clock
  readonly warm: BuildInputCache
  /** Time until its deadline that a request needs to be built, in milliseconds. Default 0. */
  readonly neededMs?: number | undefined
}

type Loaded = LoadedInput | { readonly reason: string }

/** @returns a reason if there is nothing to build */
export async function loadRequested(
  tx: Tx,
  { projectId, contextId, ...job }: ContextJob,
  deps: RequestDeps,
): Promise<Loaded> {
  const { warm, clock } = deps
  // The version of the cached input is checked while the request is read; most contexts need no other read.
  const likely = warm.find(readRequestKey(job.requestKey).key)
  const [row, likelyChanges] = await Promise.all([
    loadContext(tx, { id: contextId }),
    likely && loadChanges(tx, likely),
  ])
  const carried = requestOf({ projectId, contextId, ...job })
  const isRepeated = row !== null && carried !== undefined && hadLessTime(row, carried)
  const asked = row === null || isRepeated ? carried : undefined
  const requested = asked ?? row
  if (requested === null) return { reason: 'the request is gone' }
  if (row !== null && row.status !== 'requested' && !isRepeated) return { reason: `already ${row.status}` }
  refuseExpired(requested, clock, deps.neededMs)
  const asOfMs = clock.nowMs()
  const { request } = requested
  const key = requestKey(projectId, request)
  const kept = warm.find(key)
  const changes = kept === likely ? likelyChanges : kept && (await loadChanges(tx, kept))
  const build =
    (kept && changes && warmed(kept, changes, asOfMs)) ??
    (await loadBuildInput(tx, requested, { ...deps, projectId, asOfMs }))
  refuseLargeJob(sizeOf(build.input.messages), deps.sizeMax)
  warm.keep(key, build)
  return { ...requestedInput(build, requested, asOfMs, deps), isPrepared: row?.isPrepared ?? false, asked }
}

/**
 * The input of a request that came with its job, as it was for the last context of such a request: most threads that were read
 * twice without a change have not changed the third time either, and a context is stored in one round trip then.
 *
 * @returns null if the thread must be read first
 */
export function presumeUnchanged(job: ContextJob, deps: RequestDeps): LoadedInput | null {
  const { warm, clock, sizeMax } = deps
  const asked = requestOf(job)
  if (asked === undefined) return null
  const asOfMs = clock.nowMs()
  const kept = warm.presumed(requestKey(job.projectId, asked.request), asOfMs)
  if (kept === null) return null
  refuseExpired(asked, clock, deps.neededMs)
  refuseLargeJob(sizeOf(kept.loaded.input.messages), sizeMax)
  const { loaded, dependence: ifCurrent } = kept
  return { ...requestedInput(loaded, asked, asOfMs, deps), isPrepared: false, asked, ifCurrent }
}

function requestedInput(
  build: LoadedForBuild,
  { request, threadId, deadlineAtMs }: AskedContext,
  asOfMs: number,
  { settings }: RequestDeps,
) {
  const input = build.input.request.message === request.message ? build.input : { ...build.input, request }
  const prepared = isToBePrepared(request, build.input.settings) ? preparedKey(request, settings) : null
  return { ...build, input, threadId, asOfMs, deadlineAtMs, ...preparedWith(prepared, build.dependence) }
}

/** Rows of prepared contexts name one lane, so a context beside a state of another is built when it is requested. */
function preparedWith(key: string | null, dependence: Dependence | null): { readonly prepared?: Prepared } {
  const [lane, ...others] = dependence?.lanes ?? []
  if (key === null || dependence === null || lane === undefined || others.length > 0) return {}
  const { versions, holdsUntilMs } = dependence
  return { prepared: { key, lane, versions, holdsUntilMs } }
}

function sizeOf(messages: readonly Message[]): WorkSize {
  return { messages: messages.length, tokens: messages.reduce((sum, { tokens }) => sum + tokens, 0) }
}
