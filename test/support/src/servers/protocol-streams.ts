import type { ProtocolReply, ProtocolRequest } from './protocol-server.js'

/* Streams of providers: server-sent events in the formats of OpenAI and Anthropic. */

type Kind = ProtocolReply['kind']

/** Characters divided by four, a rough estimate of providers' counts. */
const counted = (text: string) => Math.ceil(text.length / 4)

type Call = Extract<ProtocolReply, { kind: 'call' }>

const openAiChunk =
  ({ model }: ProtocolRequest) =>
  (choices: readonly unknown[], usage: unknown = null) =>
    `data: ${JSON.stringify({ id: 'chunk', object: 'chat.completion.chunk', created: 0, model, choices, usage })}\n\n`

export function* openAiCall(request: ProtocolRequest, { id, name, input }: Call): Generator<string> {
  const chunk = openAiChunk(request)
  const call = { index: 0, id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
  yield chunk([{ index: 0, delta: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: null }])
  yield chunk([{ index: 0, delta: {}, finish_reason: 'tool_calls' }])
  yield 'data: [DONE]\n\n'
}

/** The same in one piece. */
export function openAiCompletion(
  { model, system, user, number }: ProtocolRequest,
  reply: Extract<ProtocolReply, { kind: 'text' | 'call' }>,
): object {
  const isCall = reply.kind === 'call'
  const said = isCall ? '' : reply.text
  const call = isCall
    ? [{ id: reply.id, type: 'function', function: { name: reply.name, arguments: JSON.stringify(reply.input) } }]
    : undefined
  const message = { role: 'assistant', content: isCall ? null : said, refusal: null, tool_calls: call }
  const [input, output] = [counted(system + user), counted(said)]
  return {
    id: `completion-${number}`,
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message, finish_reason: isCall ? 'tool_calls' : 'stop', logprobs: null }],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  }
}

export function* openAiEvents(request: ProtocolRequest, pieces: readonly string[], kind: Kind): Generator<string> {
  const chunk = openAiChunk(request)
  yield chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }])
  for (const content of pieces) yield chunk([{ index: 0, delta: { content }, finish_reason: null }])
  if (kind === 'cut' || kind === 'unfinished') return
  if (kind === 'refusal') yield chunk([{ index: 0, delta: { refusal: 'I cannot do that.' }, finish_reason: null }])
  yield chunk([{ index: 0, delta: {}, finish_reason: kind === 'length' ? 'length' : 'stop' }])
  const [input, output] = [counted(request.system + request.user), counted(pieces.join(''))]
  yield chunk([], { prompt_tokens: input, completion_tokens: output, total_tokens: input + output })
  yield 'data: [DONE]\n\n'
}

const anthropicEvent = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

function anthropicStart({ model, system, user }: ProtocolRequest): string {
  const usage = { input_tokens: counted(system + user), output_tokens: 1 }
  const message = { id: 'message', type: 'message', role: 'assistant', model, content: [], usage }
  return anthropicEvent('message_start', { message: { ...message, stop_reason: null, stop_sequence: null } })
}

export function* anthropicCall(request: ProtocolRequest, { id, name, input }: Call): Generator<string> {
  const event = anthropicEvent
  yield anthropicStart(request)
  yield event('content_block_start', { index: 0, content_block: { type: 'tool_use', id, name, input: {} } })
  const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) }
  yield event('content_block_delta', { index: 0, delta })
  yield event('content_block_stop', { index: 0 })
  yield event('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 1 } })
  yield event('message_stop', {})
}

export function* anthropicEvents(request: ProtocolRequest, pieces: readonly string[], kind: Kind): Generator<string> {
  const event = anthropicEvent
  yield anthropicStart(request)
  yield event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
  for (const text of pieces) yield event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
  if (kind === 'cut' || kind === 'unfinished') return
  yield event('content_block_stop', { index: 0 })
  const stopReason = kind === 'refusal' ? 'refusal' : kind === 'length' ? 'max_tokens' : 'end_turn'
  yield event('message_delta', {
    delta: { stop_reason: stopReason, stop_sequence: null },
    usage: { output_tokens: counted(pieces.join('')) },
  })
  yield event('message_stop', {})
}
