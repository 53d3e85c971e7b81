import { countSkipped, isJsonObject, type Json, type JsonObject, textField } from '@heddle/client/forms'
import { validationError } from '@heddle/contracts'
import { recordsOf } from '../conversations.js'
import { timeOf } from '../fields.js'
import type { Reading, ReadingOptions } from '../parsed.js'
import type { Source } from '../source.js'
import { type ModelCall, readModelCalls } from './calls.js'
import { chatMessagesIn } from './messages.js'

const TYPE = /^[A-Z]+$/

export function isLangfuse(record: JsonObject): boolean {
  const { type } = record
  return fieldOf(record, 'trace_id') !== undefined && typeof type === 'string' && TYPE.test(type)
}

/** Observations of Langfuse, one a line, as its API and its exports have them: generations say what was said. */
export function readLangfuse(source: Source, { skipped }: Pick<ReadingOptions, 'skipped'>): Reading {
  return readModelCalls(modelCallsIn(source, skipped))
}

function* modelCallsIn(source: Source, skipped: Map<string, number>): Generator<ModelCall> {
  for (const { place, value } of recordsOf(source)) {
    const type = textField(value, 'type') ?? 'without a type'
    if (type !== 'GENERATION') {
      countSkipped(skipped, `observation/${type}`)
      continue
    }
    const given = chatMessagesIn(jsonIn(value['input']), 'user')
    const replies = chatMessagesIn(jsonIn(value['output']), 'assistant')
    if (given.length + replies.length === 0) throw validationError(place, 'a generation must have messages', undefined)
    const thread = textOf(fieldOf(value, 'session_id')) ?? textOf(fieldOf(value, 'trace_id')) ?? ''
    yield {
      place,
      thread,
      given,
      replies,
      startedAt: timeOf(fieldOf(value, 'start_time')),
      endedAt: timeOf(fieldOf(value, 'end_time')),
      model: textField(value, 'model') ?? textOf(fieldOf(value, 'provided_model_name')),
      usage: usageIn(jsonIn(fieldOf(value, 'usage_details'))),
    }
  }
}

/** The API writes `traceId`, exports write `trace_id`. */
function fieldOf(record: JsonObject, name: string): Json | undefined {
  return record[name] ?? record[name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())] ?? undefined
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Exports may have JSON as a text. */
function jsonIn(value: Json | undefined): Json | undefined {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value) as Json
  } catch {
    return value
  }
}

function usageIn(details: Json | undefined): ModelCall['usage'] {
  if (!isJsonObject(details)) return undefined
  const { input, output } = details
  if (typeof input !== 'number' || typeof output !== 'number') return undefined
  return { inputTokens: input, outputTokens: output }
}
