import { holdsLongText, jsonSteps, PermanentError, type StageName, type StagePayload } from '@heddle/contracts'
import { runCooperatively } from '@heddle/runtime'
import { bounds } from '../base/bounds.js'

/**
 * A payload as JSON text. In Redis it lies as it is; in Postgres inside a JSON string, since BullMQ keeps job data there as
 * `jsonb`, which refuses NUL and lone surrogates, and messages may hold both; as escapes inside a text they pass. It also
 * spares Postgres the work of taking the payload apart.
 *
 * @throws PermanentError `PAYLOAD_TOO_LARGE`
 */
export function encodePayload<Name extends StageName>(
  stage: Name,
  payload: StagePayload<Name>,
): string | Promise<string> {
  return holdsLongText(payload) ? encodeLong(stage, payload) : checked(stage, JSON.stringify(payload))
}

/** With pauses: the process has others to serve meanwhile. */
async function encodeLong<Name extends StageName>(stage: Name, payload: StagePayload<Name>): Promise<string> {
  return checked(stage, await runCooperatively(jsonSteps(payload)))
}

function checked(stage: StageName, text: string): string {
  if (text.length > bounds.payloadCharactersMax) {
    throw new PermanentError('PAYLOAD_TOO_LARGE', `A job of ${stage} has ${text.length} characters`, {
      field: 'payload',
      received: `${text.length} characters`,
      hint: `A job may have ${bounds.payloadCharactersMax} characters; split it.`,
    })
  }
  return text
}

/** What lies in a job, for the schema to judge: whoever can write to the queue may have put anything there. */
export function decodePayload(data: unknown): unknown {
  if (typeof data !== 'string') return data
  try {
    return JSON.parse(data)
  } catch {
    return data
  }
}

/** The fields of a payload that also a poisoned one may have: where its sender waits, and whose it is. */
export interface PayloadOrigin {
  projectId: string | null
  threadId: string | null
  replyTo: string | null
  requestId: string | null
}

export function originOf(payload: unknown): PayloadOrigin {
  const fields = (payload !== null && typeof payload === 'object' ? payload : {}) as Record<string, unknown>
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : null)
  return {
    projectId: uuidOrNull(text('projectId')),
    threadId: uuidOrNull(text('threadId')),
    replyTo: text('replyTo'),
    requestId: uuidOrNull(text('requestId') ?? text('contextId') ?? text('snapshotId')),
  }
}

function uuidOrNull(text: string | null): string | null {
  return text !== null && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ? text.toLowerCase() : null
}
