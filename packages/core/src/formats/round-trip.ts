import type { Format, Rendered } from './format.js'
import type { NeutralMessage } from './neutral-message.js'
import type { PieceCounts } from './parts.js'

/** The data needed beside a rendered context to restore the exact messages that it was made of. */
export interface KeptBeside {
  readonly counts: PieceCounts
  /** For each message the fields that the format cannot express, or expresses differently; null if it expresses all. */
  readonly fields: readonly (Partial<NeutralMessage> | null)[]
}

const fields = ['role', 'content', 'parts', 'thinking', 'toolCalls', 'toolCallId', 'toolName', 'isError'] as const

/** The fields of messages that a format leaves out or changes. */
export function keptBeside(format: Format, neutral: readonly NeutralMessage[]): KeptBeside {
  const { counts, ...rendered } = format.render(neutral)
  const read = readBack(format, rendered, counts)
  return { counts, fields: neutral.map((message, index) => difference(message, read[index] ?? null)) }
}

/** The messages that a context was made of, without loss. */
export function restoreNeutral(format: Format, rendered: Rendered, beside: KeptBeside): NeutralMessage[] {
  return readBack(format, rendered, beside.counts).map((message, index) => {
    const kept = beside.fields[index]
    if (kept === null) return message ?? EMPTY
    return withoutUndefined({ ...(message ?? EMPTY), ...kept })
  })
}

const EMPTY: NeutralMessage = { role: 'user', content: '' }

function readBack(format: Format, rendered: Rendered, counts: PieceCounts): (NeutralMessage | null)[] {
  const pieces = format.pieces(rendered)
  const placed = counts.reduce((sum, count) => sum + count, 0)
  // An opening message comes after the system prompt and has no source message.
  const system = typeof rendered.system === 'string' ? 1 : (rendered.system?.length ?? 0)
  if (pieces.length > placed) pieces.splice(system, pieces.length - placed)
  let at = 0
  return counts.map((count) => {
    const from = at
    at += count
    return format.read(pieces.slice(from, at))
  })
}

/** The fields of a message that differ from those read back; a field missing from the message is kept as undefined. */
function difference(message: NeutralMessage, read: NeutralMessage | null): Partial<NeutralMessage> | null {
  const differing = fields.filter((field) => JSON.stringify(message[field]) !== JSON.stringify((read ?? EMPTY)[field]))
  return differing.length === 0 ? null : Object.fromEntries(differing.map((field) => [field, message[field]]))
}

function withoutUndefined(message: Partial<NeutralMessage>): NeutralMessage {
  return Object.fromEntries(
    Object.entries(message).filter(([, value]) => value !== undefined),
  ) as unknown as NeutralMessage
}
