import { createAssembler } from '@heddle/assemble'
import { keyWithBase, requestKey } from '@heddle/core'
import { createLogger, systemClock } from '@heddle/runtime'
import type { Store } from '@heddle/store'
import { newId, PROJECT } from './support.js'

export interface BuildOrder {
  readonly contextId: string
  readonly request: { readonly thread: string }
  /** A context that the requester has. Default: no context. */
  readonly baseId?: string
}

const ANSWER_BYTES_MAX = 240_000

/** A worker that builds contexts, and returns the answers of its replies. */
export function workerOn(store: Store) {
  const log = createLogger({ level: 'silent', name: 'test' })
  const assembler = createAssembler({ store, settings: { rollingWindow: null }, clock: systemClock, log })
  return async ({ contextId, request, baseId }: BuildOrder) => {
    const asked = { request, deadlineAtMs: Date.now() + 60_000 }
    const job = { jobId: newId(), attempt: 1, attemptsMax: 1, signal: new AbortController().signal }
    const payload = {
      projectId: PROJECT,
      contextId,
      asked,
      requestKey: keyWithBase(requestKey(PROJECT, request), baseId),
      wantsAnswer: true,
    }
    const outcome = await assembler({ ...job, payload, answerBytesMax: ANSWER_BYTES_MAX }, { publish: () => {} })
    return outcome.kind === 'done' && typeof outcome.answer === 'string' ? JSON.parse(outcome.answer) : undefined
  }
}
