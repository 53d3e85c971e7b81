import { type DraftMessage, isJsonObject, type Json, type JsonObject } from '@heddle/client/forms'
import { timeSchema, validationError } from '@heddle/contracts'

export function objectField(value: JsonObject, name: string): JsonObject | undefined {
  const field = value[name]
  return isJsonObject(field) ? field : undefined
}

/** A time as formats write it: ISO 8601, also with a space and without a zone (UTC), or milliseconds since 1970. */
export function timeOf(value: Json | undefined): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? isoOf(value) : undefined
  if (typeof value !== 'string') return undefined
  const zoned = /^\d{4}-\d{2}-\d{2}[ T][\d:.]+$/.test(value) ? `${value.replace(' ', 'T')}Z` : value
  const ms = Date.parse(zoned)
  return Number.isNaN(ms) ? undefined : isoOf(ms)
}

function isoOf(ms: number): string | undefined {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) return undefined
  const time = date.toISOString()
  return timeSchema.safeParse(time).success ? time : undefined
}

export interface RecordedCall {
  readonly id: string
  readonly name: string
  readonly input: Json | undefined
  readonly calledAt?: string | undefined
  readonly result?: { readonly content: string; readonly isError: boolean }
  readonly answeredAt?: string | undefined
}

/** A call and its result, which a format has in one record. */
export function callAndResult(place: string, call: RecordedCall): DraftMessage[] {
  const { id, name, input, calledAt, result, answeredAt } = call
  if (id === '' || name === '') throw validationError(place, 'a call must have an id and the name of its tool', id)
  const given = isJsonObject(input) ? input : typeof input === 'string' ? input : JSON.stringify(input ?? {})
  const sentAt = (time: string | undefined) => (time === undefined ? {} : { sentAt: time })
  const use = {
    role: 'tool_use' as const,
    content: '',
    toolCalls: [{ id, name, arguments: given }],
    ...sentAt(calledAt),
  }
  const called: DraftMessage = { place, identity: `call ${id}`, input: use }
  if (result === undefined) return [called]
  const { content, isError } = result
  const named = { toolCallId: id, toolName: name, sourceId: id, ...(isError && { isError }) }
  const answered = { role: 'tool_result' as const, content, ...named, ...sentAt(answeredAt) }
  return [called, { place, identity: `result ${id}`, input: answered }]
}
