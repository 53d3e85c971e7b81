import type { JsonObject } from '@heddle/contracts'
import type { WireResponder } from '@heddle/test-support/servers/wire-server'

/* A provider of OpenAI's two protocols: it calls two tools in one reply, and answers in words once it has their results. */

/** In parts, as models write them. */
const CALLS = [
  { id: 'call_tide', name: 'read_tide', parts: ['{"harbour":', '"Hull"}'] },
  { id: 'call_wind', name: 'read_wind', parts: ['{"harbour":', '"Hull"}'] },
] as const
const WORDS = ['High water is at four, ', 'und der Wind dreht. ', '🧵']

export const agentProvider: WireResponder = ({ url, body }, response) => {
  const text = body.toString()
  const isStream = text.includes('"stream":true')
  const isAnswer = text.includes('function_call_output') || text.includes('"role":"tool"')
  const protocol = url.endsWith('/responses') ? responses : chat
  response.writeHead(200, {
    'content-type': isStream ? 'text/event-stream; charset=utf-8' : 'application/json',
    'x-request-id': 'req_1',
  })
  if (!isStream) return void response.end(JSON.stringify(protocol.whole(isAnswer)))
  for (const event of protocol.events(isAnswer)) response.write(event)
  response.end()
}

interface Protocol {
  whole(isAnswer: boolean): JsonObject
  events(isAnswer: boolean): Iterable<string>
}

const argumentsOf = ({ parts }: (typeof CALLS)[number]): string => parts.join('')

const usage = {
  prompt_tokens: 90,
  completion_tokens: 12,
  total_tokens: 102,
  prompt_tokens_details: { cached_tokens: 0 },
}
const completion = { id: 'chatcmpl-1', created: 1, model: 'gpt-4.1' }
const toolCalls = CALLS.map((call) => ({
  id: call.id,
  type: 'function',
  function: { name: call.name, arguments: argumentsOf(call) },
}))

const chat: Protocol = {
  whole(isAnswer) {
    const message: JsonObject = isAnswer ? { content: WORDS.join('') } : { content: null, tool_calls: toolCalls }
    const choice = {
      index: 0,
      message: { role: 'assistant', refusal: null, ...message },
      finish_reason: isAnswer ? 'stop' : 'tool_calls',
      logprobs: null,
    }
    return { ...completion, object: 'chat.completion', choices: [choice], usage }
  },
  *events(isAnswer) {
    const chunk = (delta: JsonObject, finish: string | null = null) =>
      data({ ...completion, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })
    yield chunk({ role: 'assistant', content: isAnswer ? '' : null })
    if (isAnswer) for (const content of WORDS) yield chunk({ content })
    else {
      for (const [index, { id, name }] of CALLS.entries()) {
        yield chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
      }
      // The parts of both calls alternate.
      for (const part of [0, 1] as const) {
        for (const [index, { parts }] of CALLS.entries()) {
          yield chunk({ tool_calls: [{ index, function: { arguments: parts[part] } }] })
        }
      }
    }
    yield chunk({}, isAnswer ? 'stop' : 'tool_calls')
    yield data({ ...completion, object: 'chat.completion.chunk', choices: [], usage })
    yield 'data: [DONE]\n\n'
  },
}

const responses: Protocol = {
  whole: (isAnswer) => response(isAnswer, 'completed'),
  *events(isAnswer) {
    let number = 0
    const event = (type: string, fields: JsonObject) =>
      `event: ${type}\n${data({ type, sequence_number: number++, ...fields })}`
    yield event('response.created', { response: { ...response(isAnswer, 'in_progress'), output: [] } })
    for (const [index, item] of itemsOf(isAnswer).entries()) {
      const place = { output_index: index, item_id: item['id'] ?? '' }
      yield event('response.output_item.added', { ...place, item: { ...item, status: 'in_progress' } })
      if (isAnswer) {
        for (const delta of WORDS)
          yield event('response.output_text.delta', { ...place, content_index: 0, delta, logprobs: [] })
      } else {
        for (const delta of CALLS[index]?.parts ?? [])
          yield event('response.function_call_arguments.delta', { ...place, delta })
      }
      yield event('response.output_item.done', { ...place, item })
    }
    yield event('response.completed', { response: response(isAnswer, 'completed') })
  },
}

function itemsOf(isAnswer: boolean): JsonObject[] {
  if (isAnswer) {
    const content = [{ type: 'output_text', text: WORDS.join(''), annotations: [], logprobs: [] }]
    return [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }]
  }
  return CALLS.map((call) => ({
    ...{ id: `fc_${call.id}`, type: 'function_call', call_id: call.id, name: call.name },
    ...{ arguments: argumentsOf(call), status: 'completed' },
  }))
}

function response(isAnswer: boolean, status: string): JsonObject {
  return {
    ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-4.1', status, error: null, tools: [] },
    ...{ output: itemsOf(isAnswer), parallel_tool_calls: true, incomplete_details: null, instructions: null },
    usage: {
      ...{ input_tokens: 90, output_tokens: 12, total_tokens: 102 },
      ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
    },
  }
}

function data(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`
}
