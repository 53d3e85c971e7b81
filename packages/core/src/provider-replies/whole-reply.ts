import type { JsonObject, JsonValue } from '@heddle/contracts'
import { isObject, objectsIn, parseObject, textIn } from '../provider-requests/blocks.js'
import type { Protocol } from '../provider-requests/protocol.js'
import { RECALL_TOOL } from '../provider-requests/recall-tool.js'
import type { RecallCall, ReplyPart } from './reply-filter.js'

/** A reply that was not streamed. */
export interface WholePart {
  readonly part: ReplyPart
  /** The reply without calls of the proxy's own tool. */
  readonly shown: JsonObject
}

/** Reads a whole reply; null if it is not one of the protocol, or of a protocol without the proxy's own tool. */
export function readWholeReply(protocol: Protocol, reply: JsonObject): WholePart | null {
  if (protocol === 'anthropic') return readMessage(reply)
  return protocol === 'openai-chat' ? readCompletion(reply) : null
}

/** One reply of several parts: everything that was said, and the calls and the end of the last one. */
export function joinReplies(protocol: Protocol, shown: readonly JsonObject[]): JsonObject {
  const last = shown.at(-1) ?? {}
  if (shown.length < 2) return last
  if (protocol === 'anthropic') {
    return {
      ...last,
      id: shown[0]?.['id'] ?? null,
      content: shown.flatMap(({ content }) => (content ?? []) as JsonValue[]),
    }
  }
  const [choice, ...others] = objectsIn(last['choices'])
  const texts = shown.flatMap((each) => textIn(messageOf(each)['content']) ?? [])
  const content = texts.length === 0 ? null : texts.join('')
  return { ...last, choices: [{ ...choice, message: { ...messageOf(last), content } }, ...others] }
}

function readMessage(reply: JsonObject): WholePart | null {
  if (!Array.isArray(reply['content'])) return null
  const blocks = objectsIn(reply['content'])
  const isRecall = ({ type, name }: JsonObject) => type === 'tool_use' && name === RECALL_TOOL
  const calls = blocks.filter(({ type }) => type === 'tool_use')
  const recalls = calls.filter(isRecall).map(({ id, input }): RecallCall => {
    return { id: textIn(id) ?? '', input: isObject(input) ? input : null }
  })
  return {
    part: {
      recalls,
      isContinued: recalls.length > 0 && recalls.length === calls.length && reply['stop_reason'] === 'tool_use',
      entry: { role: 'assistant', content: [...blocks] },
      usage: isObject(reply['usage']) ? reply['usage'] : {},
    },
    shown: recalls.length === 0 ? reply : { ...reply, content: blocks.filter((block) => !isRecall(block)) },
  }
}

function readCompletion(reply: JsonObject): WholePart | null {
  const [choice, ...others] = objectsIn(reply['choices'])
  if (choice === undefined || !isObject(choice['message'])) return null
  const message = choice['message']
  const calls = objectsIn(message['tool_calls'])
  const isRecall = ({ function: called }: JsonObject) => isObject(called) && called['name'] === RECALL_TOOL
  const recalls = calls.filter(isRecall).map(({ id, function: called }): RecallCall => {
    return { id: textIn(id) ?? '', input: isObject(called) ? parseObject(textIn(called['arguments']) ?? '') : null }
  })
  const { tool_calls: _, ...rest } = message
  const left = calls.filter((call) => !isRecall(call))
  const shownMessage = left.length === 0 ? rest : { ...rest, tool_calls: left }
  return {
    part: {
      recalls,
      isContinued: recalls.length > 0 && left.length === 0 && choice['finish_reason'] === 'tool_calls',
      entry: { ...message },
      usage: isObject(reply['usage']) ? reply['usage'] : {},
    },
    shown: recalls.length === 0 ? reply : { ...reply, choices: [{ ...choice, message: shownMessage }, ...others] },
  }
}

function messageOf(reply: JsonObject): JsonObject {
  const [choice] = objectsIn(reply['choices'])
  return choice !== undefined && isObject(choice['message']) ? choice['message'] : {}
}
