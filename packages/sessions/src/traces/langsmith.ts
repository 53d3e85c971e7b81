import { countSkipped, type JsonObject, openAiUsage, textField } from '@heddle/client/forms'
import { validationError } from '@heddle/contracts'
import { recordsOf } from '../conversations.js'
import { objectField, timeOf } from '../fields.js'
import type { Reading, ReadingOptions } from '../parsed.js'
import type { Source } from '../source.js'
import { type ModelCall, readModelCalls } from './calls.js'
import { chatMessagesIn } from './messages.js'

export function isLangSmith(record: JsonObject): boolean {
  return typeof record['run_type'] === 'string' && 'inputs' in record
}

/** Names of the metadata by which LangSmith groups traces to threads. */
const THREAD_FIELDS = ['thread_id', 'session_id', 'conversation_id']

/** Runs of LangSmith, one a line, in the order of their times: those of models say what was said. */
export function readLangSmith(source: Source, { skipped }: Pick<ReadingOptions, 'skipped'>): Reading {
  return readModelCalls(modelCallsIn(source, skipped))
}

function* modelCallsIn(source: Source, skipped: Map<string, number>): Generator<ModelCall> {
  for (const { place, value } of recordsOf(source)) {
    const type = textField(value, 'run_type') ?? 'without a type'
    const [inputs, outputs] = [value['inputs'], value['outputs']]
    if (type !== 'llm') {
      countSkipped(skipped, `run/${type}`)
      continue
    }
    const given = chatMessagesIn(inputs, 'user')
    const replies = chatMessagesIn(outputs, 'assistant')
    if (given.length + replies.length === 0)
      throw validationError(place, 'a run of a model must have messages', undefined)
    const metadata = objectField(objectField(value, 'extra') ?? {}, 'metadata') ?? {}
    const thread = THREAD_FIELDS.flatMap((field) => textField(metadata, field) ?? [])[0] ?? textField(value, 'trace_id')
    const [prompt, completion] = [value['prompt_tokens'], value['completion_tokens']]
    yield {
      place,
      thread: thread ?? textField(value, 'id') ?? '',
      given,
      replies,
      startedAt: timeOf(value['start_time']),
      endedAt: timeOf(value['end_time']),
      model: textField(metadata, 'ls_model_name'),
      usage:
        typeof prompt === 'number'
          ? openAiUsage({ prompt_tokens: prompt, completion_tokens: completion ?? 0 }).usage
          : undefined,
    }
  }
}
