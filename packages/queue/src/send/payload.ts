import { holdsLongText, jsonSteps, PermanentError, type StageName, type StagePayload } from '@heddle/contracts'
import { runCooperatively } from '@heddle/runtime'
import { bounds } from '../base/bounds.js'

/**
 * A payload as JSON text. Redis stores it unchanged; Postgres inside a JSON string, since BullMQ stores job data as `jsonb`
 * there, which refuses NUL and lone surrogates. Messages may hold both, and as escapes inside a string they are accepted. It
 * also saves Postgres from parsing the payload.
 *
 * @throws PermanentError `PAYLOAD_TOO_LARGE`
 */
export function encodePayload<Name extends StageName>(
  stage: Name,
  payload: StagePayload<Name>,
): string | Promise<string> {
  return holdsLongText(payload) ? encodeLong(stage, payload) : checked(stage, JSON.stringify(payload))
}

/** Encodes with pauses, so that the process can serve others meanwhile. */
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

/** The data of a job, not yet checked by the schema: any program that can write to the queue may have added it. */
export function decodePayload(data: unknown): unknown {
  if (typeof data !== 'string') return data
  try {
    return JSON.parse(data)
  } catch {
    return data
  }
}

/** Fields that are read even of a malformed payload: its sender's inbox, project and thread. */
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
