import type { StageName, StagePayload } from '@heddle/contracts'

/** Stages whose jobs callers send and wait for. */
const sharedStages = ['ingest', 'assemble'] as const
export type SharedStage = (typeof sharedStages)[number]

/** Open jobs of one project in one stage: those that were sent and have no reply yet. */
export interface LoadCount {
  readonly stage: SharedStage
  readonly projectId: string
  readonly jobs: number
  readonly bytes: number
}

/** The open jobs that a process has sent, published to all others. */
export interface LoadReport {
  /** The name of the process. */
  readonly from: string
  readonly counts: readonly LoadCount[]
}

function isShared(stage: StageName): stage is SharedStage {
  return (sharedStages as readonly StageName[]).includes(stage)
}

/** A place for work that a caller is about to send. */
export interface NewShare {
  readonly stage: SharedStage
  readonly projectId: string
  /** Size of the work. */
  readonly bytes: number
}

/** Work that a caller is about to receive, and the admitted requests before it. */
export interface ShareRequest extends NewShare {
  /** Open requests of the project that this process has admitted, whether or not their jobs have been sent. Default 0. */
  readonly admitted?: { readonly jobs: number; readonly bytes: number }
}

/** A job whose reply arrives at this process. */
export interface SentJob extends NewShare {
  /** The id of its reply. */
  readonly id: string
}

/** @returns null for a job whose reply is sent to another process: this one will not learn when it ends */
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

/** @returns null for any other text, such as a report of another version */
export function parseLoadReport(text: string): LoadReport | null {
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
