import { countSkipped, type DraftMessage, isJsonObject, type JsonObject, textField } from '@heddle/client/forms'
import { recordsOf } from '../conversations.js'
import { callAndResult, objectField, timeOf } from '../fields.js'
import type { Draft, Reading, ReadingOptions } from '../parsed.js'
import type { Source } from '../source.js'

/** Whether a record is one that only Cursor's stream has: a call with its tool as the name of a field. */
export function isCursor({ type, subtype, tool_call: call }: JsonObject): boolean {
  return type === 'tool_call' && typeof subtype === 'string' && isJsonObject(call)
}

/** The stream of `cursor-agent --print --output-format stream-json`, one event a line. */
export function readCursor(source: Source, { skipped }: Pick<ReadingOptions, 'skipped'>): Reading {
  return { drafts: readStream(source, skipped), suffixOf: () => null }
}

function* readStream(source: Source, skipped: Map<string, number>): Generator<Draft> {
  let model: string | undefined
  for (const { place, value } of recordsOf(source)) {
    const { type, subtype } = value
    if (type === 'system') model = textField(value, 'model') ?? model
    const drafts = readEvent(place, value, model)
    if (drafts.length === 0) countSkipped(skipped, [type ?? 'without a type', subtype ?? []].flat().join('/'))
    for (const message of drafts) yield { thread: 0, message }
  }
}

function readEvent(place: string, event: JsonObject, model: string | undefined): DraftMessage[] {
  const { type, subtype } = event
  const time = timeOf(event['timestamp_ms'])
  if (type === 'tool_call' && subtype === 'completed') return readCall(place, event, time)
  const content = textIn(objectField(event, 'message')?.['content'])
  if ((type !== 'user' && type !== 'assistant') || content.trim() === '') return []
  const sentAt = time === undefined ? {} : { sentAt: time }
  return [{ place, input: { role: type, content, ...sentAt, ...(type === 'assistant' && model && { model }) } }]
}

/** `{ "readToolCall": { "args": …, "result": { "success": … } } }`, or a function with its arguments as a text. */
function readCall(place: string, event: JsonObject, time: string | undefined): DraftMessage[] {
  const [[field, call] = ['', null]] = Object.entries(objectField(event, 'tool_call') ?? {}).filter(([, value]) =>
    isJsonObject(value),
  )
  if (!isJsonObject(call)) return []
  const { result } = call
  const success = isJsonObject(result) ? result['success'] : undefined
  const shown = isJsonObject(success) ? (textField(success, 'content') ?? textField(success, 'stdout')) : undefined
  const content = shown ?? (result === undefined ? '' : JSON.stringify(success ?? result))
  return callAndResult(place, {
    id: textField(event, 'call_id') ?? '',
    name: field === 'function' ? (textField(call, 'name') ?? '') : field.replace(/ToolCall$/, ''),
    input: call['args'] ?? call['arguments'],
    calledAt: time,
    answeredAt: time,
    result: { content, isError: isJsonObject(result) && success === undefined && result['error'] !== undefined },
  })
}

function textIn(content: JsonObject[string] | undefined): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.flatMap((block) => (isJsonObject(block) ? (textField(block, 'text') ?? []) : [])).join('\n')
}
