import type { StageName, StagePayload } from '@heddle/contracts'

/** Stages whose jobs callers send and wait for. */
const sharedStages = ['ingest', 'assemble'] as const
export type SharedStage = (typeof sharedStages)[number]

/** What one project has under way in one stage. */
export interface LoadCount {
  readonly stage: SharedStage
  readonly projectId: string
  readonly jobs: number
  readonly bytes: number
}

/** What a process tells all others: what it has sent and has no word of yet. */
export interface LoadReport {
  readonly from: string
  readonly counts: readonly LoadCount[]
}

function isShared(stage: StageName): stage is SharedStage {
  return (sharedStages as readonly StageName[]).includes(stage)
}

/** What a caller is about to do. */
export interface NewShare {
  readonly stage: SharedStage
  readonly projectId: string
  /** Of what it sends. */
  readonly bytes: number
}

/** What a caller would like to do, and what was let in before it. */
export interface AskedShare extends NewShare {
  /** Of the project, let in by this process and not yet answered, whether or not its jobs have been sent. Default none. */
  readonly letIn?: { readonly jobs: number; readonly bytes: number }
}

/** A job whose reply comes to this process. */
export interface SentJob extends NewShare {
  /** The id of its reply. */
  readonly id: string
}

/** @returns null for a job whose reply goes elsewhere: this process will not hear of its end */
export function sentJob(
  inbox: string,
  stage: StageName,
  payload: StagePayload<StageName>,
  bytes: number,
): SentJob | null {
  if (!isShared(stage) || !('replyTo' in payload) || payload.replyTo !== inbox) return null
  const { projectId } = payload
  if ('messages' in payload) return { id: payload.requestId, stage, projectId, bytes }
  return { id: 'contextId' in payload ? payload.contextId : payload.snapshotId, stage, projectId, bytes }
}

/** @returns null for what is no such word, such as one of another version */
export function readWord(text: string): LoadReport | null {
  const { from, counts } = (parsed(text) ?? {}) as Partial<LoadReport>
  if (typeof from !== 'string') return null
  if (!Array.isArray(counts) || !counts.every(isCount)) return null
  return { from, counts }
}

function isCount(given: unknown): given is LoadCount {
  if (given === null || typeof given !== 'object') return false
  const { stage, projectId, jobs, bytes } = given as Record<keyof LoadCount, unknown>
  const known: readonly unknown[] = sharedStages
  return known.includes(stage) && typeof projectId === 'string' && isAmount(jobs) && isAmount(bytes)
}

function isAmount(given: unknown): given is number {
  return typeof given === 'number' && given >= 0 && Number.isFinite(given)
}

function parsed(text: string): object | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
