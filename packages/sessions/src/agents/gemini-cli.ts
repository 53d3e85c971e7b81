import {
  countSkipped,
  type DraftMessage,
  isJsonObject,
  type Json,
  type JsonObject,
  textField,
} from '@heddle/client/forms'
import { recordsIn, recordsOf } from '../conversations.js'
import { callAndResult, objectField, timeOf } from '../fields.js'
import { HashTable } from '../hash-table.js'
import type { Draft, Reading, ReadingOptions } from '../parsed.js'
import { numberOf } from '../repeats.js'
import type { Source } from '../source.js'

/** Whether a record begins a recording: the others are its messages, or are in it. */
export function isGeminiCli({ sessionId, projectHash }: JsonObject): boolean {
  return typeof sessionId === 'string' && typeof projectHash === 'string'
}

/**
 * Chats that Gemini CLI records, `~/.gemini/tmp/PROJECT/chats/session-*`: one object with `messages`, or a line with the
 * session and one for each message.
 */
export function readGeminiCli(source: Source, { skipped }: Pick<ReadingOptions, 'skipped'>): Reading {
  return { drafts: readChat(source, skipped), suffixOf: () => null }
}

function* readChat(source: Source, skipped: Map<string, number>): Generator<Draft> {
  if (source.kind === 'object') {
    const [file] = source.entries()
    for (const { place, value } of recordsIn(file?.list('messages') ?? [], (index) => `messages.${index}`)) {
      yield* readMessage(place, value, skipped)
    }
    return
  }
  // A message is written again once its calls have results: its last line counts.
  const last = new HashTable()
  for (const { place, value } of recordsOf(source)) last.set(textField(value, 'id') ?? place, numberOf(place))
  for (const { place, value } of recordsOf(source)) {
    if (isGeminiCli(value)) continue
    if (last.get(textField(value, 'id') ?? place) === numberOf(place)) yield* readMessage(place, value, skipped)
    else countSkipped(skipped, 'message/repeated')
  }
}

function* readMessage(place: string, value: JsonObject, skipped: Map<string, number>): Generator<Draft> {
  const { type } = value
  if (type !== 'user' && type !== 'gemini') {
    countSkipped(skipped, typeof type === 'string' ? type : (Object.keys(value)[0] ?? 'without a type'))
    return
  }
  const isReply = type === 'gemini'
  const sentAt = timeOf(value['timestamp'])
  const content = textIn(value['content'])
  const thinking = isReply ? thoughtsIn(value['thoughts']) : []
  const id = textField(value, 'id') ?? place
  if (content.trim() !== '' || thinking.length > 0) {
    const model = textField(value, 'model')
    const message: DraftMessage = {
      place,
      identity: id,
      input: {
        role: isReply ? 'assistant' : 'user',
        content,
        sourceId: id,
        ...(sentAt !== undefined && { sentAt }),
        ...(thinking.length > 0 && { thinking }),
        ...(isReply && model !== undefined && { model }),
        ...(isReply && usageIn(objectField(value, 'tokens'))),
      },
    }
    yield { thread: 0, message }
  }
  const calls = Array.isArray(value['toolCalls']) ? value['toolCalls'] : []
  for (const call of recordsIn(calls, (index) => `${place}.toolCalls.${index}`)) {
    for (const message of readCall(call.place, call.value)) yield { thread: 0, message }
  }
}

function readCall(place: string, call: JsonObject): DraftMessage[] {
  const { status, result, args } = call
  const time = timeOf(call['timestamp'])
  const isDone = status === 'success' || status === 'error' || status === 'cancelled'
  return callAndResult(place, {
    id: textField(call, 'id') ?? '',
    name: textField(call, 'name') ?? '',
    input: args,
    calledAt: time,
    ...(isDone && { result: { content: resultIn(result), isError: status !== 'success' }, answeredAt: time }),
  })
}

/** Parts of Google's API: texts, and answers of functions. */
function textIn(content: Json | undefined): string {
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content : content === undefined ? [] : [content]
  return parts
    .flatMap((part) => (typeof part === 'string' ? part : isJsonObject(part) ? (textField(part, 'text') ?? []) : []))
    .join('\n')
}

function resultIn(result: Json | undefined): string {
  const parts = Array.isArray(result) ? result : result === undefined || result === null ? [] : [result]
  const texts = parts.map((part) => {
    if (!isJsonObject(part)) return String(part)
    const response = objectField(objectField(part, 'functionResponse') ?? {}, 'response')
    if (response === undefined) return textIn(part) || JSON.stringify(part)
    const output = response['output'] ?? response['error']
    return typeof output === 'string' ? output : JSON.stringify(response)
  })
  return texts.join('\n')
}

function thoughtsIn(thoughts: Json | undefined): { text: string }[] {
  if (!Array.isArray(thoughts)) return []
  return thoughts.flatMap((thought) => {
    if (!isJsonObject(thought)) return []
    const words = [textField(thought, 'subject'), textField(thought, 'description')].filter(Boolean).join('\n')
    return words === '' ? [] : [{ text: words }]
  })
}

function usageIn(tokens: JsonObject | undefined) {
  if (tokens === undefined) return {}
  const count = (name: string) => (typeof tokens[name] === 'number' ? tokens[name] : 0)
  const [cached, reasoning] = [count('cached'), count('thoughts')]
  return {
    usage: {
      inputTokens: Math.max(0, count('input') - cached),
      ...(cached > 0 && { cacheReadTokens: cached }),
      outputTokens: count('output') + reasoning,
      ...(reasoning > 0 && { reasoningTokens: reasoning }),
    },
  }
}
