import type { AiSdkAssistantPart, AiSdkMessage, AiSdkResultPart, AiSdkUserPart } from '@heddle/contracts'
import { remembered } from '../conversation/remembered.js'
import { aiSdkFaults } from './ai-sdk-rules.js'
import { argumentsObject, sentCallId, sentToolName } from './calls.js'
import type { Format } from './format.js'
import type { NeutralMessage, NeutralPart } from './neutral-message.js'
import { FUNCTION_NAME_CHARACTERS_MAX } from './openai-chat.js'
import { slotOf, spoken } from './part-delivery.js'
import { MessageReader, type Piece } from './parts.js'
import { isBlank, markSystemNote, OPENING_TEXT, unmarkSystemNote } from './texts.js'
import { wholeThinking } from './thinking.js'

const SYSTEM_SEPARATOR = '\n\n'

const toSharedMessage = remembered(toAiSdkMessage)

/**
 * `ModelMessage` of the AI SDK, version 5 and later, which converts them for any provider. System messages at the
 * start become the `system` option; the SDK advises against them among the messages, and later versions refuse them
 * there, so later ones become marked user text. Parallel results are parts of one tool message. Signed reasoning is
 * placed where the SDK's Anthropic provider expects it; other providers ignore it.
 */
export const aiSdk: Format = {
  name: 'ai-sdk',
  carriesReasoning: true,
  render: toAiSdk,
  alone: toSharedMessage,
  opening: aiSdkOpening(),
  faults: aiSdkFaults,
  pieces: ({ system, messages }) => [
    ...(typeof system === 'string' ? [{ role: 'system', block: { type: 'text', text: system } }] : []),
    ...messages.flatMap(({ role, content }) =>
      typeof content === 'string'
        ? [{ role: String(role), block: { type: 'text', text: content } }]
        : (content as unknown as Piece['block'][]).map((block) => ({ role: String(role), block })),
    ),
  ],
  read,
}

export function toAiSdk(messages: readonly NeutralMessage[]) {
  const firstTurn = messages.findIndex((message) => message.role !== 'system')
  const leading = firstTurn < 0 ? messages : messages.slice(0, firstTurn)
  const texts = leading.map((message) => message.content.toWellFormed()).filter((text) => !isBlank(text))
  const sent: AiSdkMessage[] = []
  const counts = messages.slice(leading.length).map((message) => {
    const next = toSharedMessage(message)
    if (next === null) return 0
    const last = sent.at(-1)
    if (next.role !== 'tool') sent.push(next)
    else if (last?.role === 'tool') last.content.push(...next.content)
    else sent.push({ ...next, content: [...next.content] })
    return typeof next.content === 'string' ? 1 : next.content.length
  })
  return {
    system: texts.length > 0 ? texts.join(SYSTEM_SEPARATOR) : null,
    messages: sent.length > 0 ? sent : [aiSdkOpening()],
    // Several system messages become one text: it counts for the first of them, and the others are kept beside it.
    counts: [...leading.map((message) => (message === leading.find(isSaying) ? 1 : 0)), ...counts],
  }
}

const isSaying = ({ content }: NeutralMessage) => !isBlank(content.toWellFormed())

function aiSdkOpening(): AiSdkMessage {
  return { role: 'user', content: OPENING_TEXT }
}

/** One message, independent of its neighbors; null if it is empty. */
function toAiSdkMessage(message: NeutralMessage): AiSdkMessage | null {
  const said = spoken('ai-sdk', message)
  if (message.role === 'tool_result') return { role: 'tool', content: [toResultPart(message, said)] }
  if (typeof said !== 'string') return { role: 'user', content: said.flatMap(toUserPart) }
  const text = said
  if (message.role !== 'assistant') {
    if (isBlank(text)) return null
    return { role: 'user', content: message.role === 'system' ? markSystemNote(text) : text }
  }
  const calls = (message.toolCalls ?? []).map(
    (call): AiSdkAssistantPart => ({
      type: 'tool-call',
      toolCallId: sentCallId(call.id),
      toolName: sentToolName(call.name, FUNCTION_NAME_CHARACTERS_MAX),
      input: argumentsObject(call.arguments),
    }),
  )
  const parts: AiSdkAssistantPart[] = [...(isBlank(text) ? [] : [{ type: 'text' as const, text }]), ...calls]
  return parts.length === 0 ? null : { role: 'assistant', content: [...toReasoningParts(message), ...parts] }
}

function toUserPart(said: string | NeutralPart): AiSdkUserPart[] {
  if (typeof said === 'string') return isBlank(said) ? [] : [{ type: 'text', text: said }]
  const { type, mediaType, name } = said
  const data = said.url ?? slotOf(said, 'ai-sdk')
  if (type === 'image') return [{ type, image: data, ...(mediaType !== undefined && { mediaType }) }]
  const filename = name === undefined ? {} : { filename: name.toWellFormed() }
  return [{ type: 'file', data, mediaType: mediaType ?? 'application/octet-stream', ...filename }]
}

type ResultOutput = AiSdkResultPart['output']

function toOutput({ isError }: NeutralMessage, said: string | (string | NeutralPart)[]): ResultOutput {
  if (typeof said === 'string') return { type: isError ? 'error-text' : 'text', value: said }
  return { type: 'content', value: said.flatMap(toOutputPart) }
}

function toOutputPart(said: string | NeutralPart): Extract<ResultOutput, { type: 'content' }>['value'] {
  if (typeof said === 'string') return isBlank(said) ? [] : [{ type: 'text', text: said }]
  const mediaType = said.mediaType ?? 'application/octet-stream'
  return [{ type: 'media', data: slotOf(said, 'ai-sdk'), mediaType }]
}

function toResultPart(message: NeutralMessage, said: string | (string | NeutralPart)[]): AiSdkResultPart {
  return {
    type: 'tool-result',
    toolCallId: sentCallId(message.toolCallId ?? ''),
    toolName: sentToolName(message.toolName ?? '', FUNCTION_NAME_CHARACTERS_MAX),
    output: toOutput(message, said),
  }
}

function toReasoningParts(message: NeutralMessage): AiSdkAssistantPart[] {
  return wholeThinking(message).map(({ text, signature, redacted }) => ({
    type: 'reasoning',
    text: redacted ? '' : text,
    providerOptions: { anthropic: redacted ? { redactedData: redacted } : { signature: signature ?? '' } },
  }))
}

function read(pieces: readonly Piece[]): NeutralMessage | null {
  const reader = new MessageReader()
  for (const { role, block } of pieces) {
    const part = block as AiSdkAssistantPart | AiSdkResultPart | AiSdkUserPart
    switch (part.type) {
      case 'text': {
        const note = role === 'user' ? unmarkSystemNote(part.text) : null
        reader.say(note === null ? (role as 'system' | 'user' | 'assistant') : 'system', note ?? part.text)
        break
      }
      case 'reasoning': {
        const { anthropic: sign } = part.providerOptions
        reader.think('signature' in sign ? { text: part.text, ...sign } : { text: '', redacted: sign.redactedData })
        break
      }
      case 'tool-call':
        reader.call({ id: part.toolCallId, name: part.toolName, arguments: part.input })
        break
      case 'tool-result': {
        const { toolCallId, toolName, output } = part
        reader.answer(textOf(output), { toolCallId, toolName, ...(output.type === 'error-text' && { isError: true }) })
      }
    }
  }
  return reader.message()
}

function textOf(output: ResultOutput): string {
  if (output.type !== 'content') return output.value
  return output.value.map((one) => (one.type === 'text' ? one.text : '')).join('')
}
