import { countSkipped, isJsonObject, type Json, type JsonObject, openAiUsage, textField } from '@heddle/client/forms'
import { validationError } from '@heddle/contracts'
import { recordsOf } from '../conversations.js'
import { objectField, timeOf } from '../fields.js'
import type { Reading, ReadingOptions } from '../parsed.js'
import type { Source } from '../source.js'
import { type ModelCall, readModelCalls } from './calls.js'

export function isOpenTelemetry({ resourceSpans }: JsonObject): boolean {
  return Array.isArray(resourceSpans)
}

/**
 * Spans as the file exporter of OpenTelemetry writes them, one request a line, with the attributes of its conventions for
 * generative models: `gen_ai.input.messages`, `gen_ai.output.messages`, `gen_ai.system_instructions`.
 */
export function readOpenTelemetry(source: Source, { skipped }: Pick<ReadingOptions, 'skipped'>): Reading {
  return readModelCalls(modelCallsIn(source, skipped))
}

function* modelCallsIn(source: Source, skipped: Map<string, number>): Generator<ModelCall> {
  for (const { place, value } of recordsOf(source)) {
    for (const span of spansIn(value)) {
      const attributes = attributesOf(span)
      const given = [
        ...messagesIn(place, systemOf(attributes.get('gen_ai.system_instructions')), 'system'),
        ...messagesIn(place, attributes.get('gen_ai.input.messages'), 'user'),
      ]
      const replies = messagesIn(place, attributes.get('gen_ai.output.messages'), 'assistant')
      if (given.length + replies.length === 0) {
        countSkipped(skipped, `span/${textOf(attributes.get('gen_ai.operation.name')) ?? 'without messages'}`)
        continue
      }
      yield {
        place,
        thread: textOf(attributes.get('gen_ai.conversation.id')) ?? textField(span, 'traceId') ?? '',
        given,
        replies,
        startedAt: timeOfNanoseconds(span['startTimeUnixNano']),
        endedAt: timeOfNanoseconds(span['endTimeUnixNano']),
        model: textOf(attributes.get('gen_ai.response.model')) ?? textOf(attributes.get('gen_ai.request.model')),
        usage: openAiUsage({
          input_tokens: attributes.get('gen_ai.usage.input_tokens') ?? null,
          output_tokens: attributes.get('gen_ai.usage.output_tokens') ?? null,
        }).usage,
      }
    }
  }
}

function* spansIn({ resourceSpans }: JsonObject): Generator<JsonObject> {
  for (const resource of objectsIn(resourceSpans)) {
    for (const scope of objectsIn(resource['scopeSpans'])) yield* objectsIn(scope['spans'])
  }
}

function objectsIn(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}

function attributesOf(span: JsonObject): Map<string, Json> {
  return new Map(
    objectsIn(span['attributes']).map(({ key, value }) => [
      String(key),
      isJsonObject(value) ? plainValue(value) : null,
    ]),
  )
}

/** A value of the protocol, which names its type: numbers of 64 bits are texts. */
function plainValue(value: JsonObject): Json {
  if (value['intValue'] !== undefined) return Number(value['intValue'])
  const list = objectField(value, 'arrayValue')
  if (list !== undefined) return objectsIn(list['values']).map(plainValue)
  const fields = objectField(value, 'kvlistValue')
  if (fields !== undefined) {
    return Object.fromEntries(
      objectsIn(fields['values']).map((field) => [String(field['key']), plainValue(objectField(field, 'value') ?? {})]),
    )
  }
  return value['stringValue'] ?? value['doubleValue'] ?? value['boolValue'] ?? null
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function timeOfNanoseconds(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : timeOf(Number(value) / 1_000_000)
}

/** Instructions are parts without a message. */
function systemOf(value: Json | undefined): Json | undefined {
  const parts = jsonIn(value)
  return Array.isArray(parts) && parts.length > 0 ? [{ role: 'system', parts }] : undefined
}

function jsonIn(value: Json | undefined): Json | undefined {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value) as Json
  } catch {
    return value
  }
}

/** Messages with parts, in the form of OpenAI's chat completions; each response of a tool is a message of its own. */
function messagesIn(place: string, value: Json | undefined, otherwise: string): JsonObject[] {
  const messages = jsonIn(value)
  if (messages === undefined || messages === null) return []
  if (!Array.isArray(messages)) throw validationError(place, 'messages of a span must be a list', messages)
  return objectsIn(messages).flatMap((message) => {
    const parts = objectsIn(message['parts'])
    const responses = parts.filter(({ type }) => type === 'tool_call_response')
    const others = parts.filter(({ type }) => type !== 'tool_call_response')
    const answers = responses.map((part) => ({
      role: 'tool',
      tool_call_id: part['id'] ?? '',
      content: textIn(part['response'] ?? part['result'] ?? null),
    }))
    if (others.length === 0 && answers.length > 0) return answers
    const calls = others.filter(({ type }) => type === 'tool_call')
    const reasoning = others.filter(({ type }) => type === 'reasoning').map((part) => textIn(part['content'] ?? null))
    const shown = {
      role: textField(message, 'role') ?? otherwise,
      content: others
        .filter(({ type }) => type === 'text')
        .map((part) => textIn(part['content'] ?? null))
        .join('\n'),
      ...(reasoning.length > 0 && { reasoning_content: reasoning.join('\n') }),
      ...(calls.length > 0 && { tool_calls: calls.map(callOf) }),
    }
    return [...answers, shown]
  })
}

function callOf({ id, name, arguments: given }: JsonObject): JsonObject {
  return { id: id ?? '', type: 'function', function: { name: name ?? '', arguments: given ?? null } }
}

function textIn(value: Json): string {
  return typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value)
}
