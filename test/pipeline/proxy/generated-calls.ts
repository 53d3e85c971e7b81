import { createHash } from 'node:crypto'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import { signatureOf } from '@heddle/test-support/providers/signatures'
import { generateText, type ModelMessage } from 'ai'
import fc from 'fast-check'
import OpenAi from 'openai'

/** A call of a provider's package, generated from all that their protocols can hold. */
export interface GeneratedCall {
  readonly kind: 'anthropic' | 'chat' | 'responses' | 'ai-sdk'
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
}

type Fetch = typeof globalThis.fetch

const word = fc.constantFrom(
  'find',
  'the',
  'naïve',
  '木',
  '🧵',
  '"quoted"',
  '\\n',
  'a\nb',
  '</script>',
  '\u2028',
  '1e400',
  '',
)
const text = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => `${words.join(' ')}.`)
const base64 = fc.uint8Array({ minLength: 1, maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('base64'))
const given = fc.dictionary(
  fc.constantFrom('path', 'query', 'cache_control', '__proto'),
  fc.oneof(text, fc.double(), fc.boolean()),
)
const ids = fc.array(fc.uuid(), { minLength: 1, maxLength: 3 }).map((all) => [...new Set(all)])
const mark = fc.constantFrom(
  {},
  {},
  { cache_control: { type: 'ephemeral' } },
  { cache_control: { type: 'ephemeral', ttl: '1h' } },
)
/** Fields that no package knows. */
const unknown = fc.dictionary(fc.constantFrom('x_beta', 'future_field'), fc.oneof(text, fc.integer(), given), {
  maxKeys: 1,
})

const anthropicUser = fc.oneof(
  text.map((said) => ({ role: 'user', content: said })),
  fc.tuple(text, base64, mark).map(([said, data, marked]) => ({
    role: 'user',
    content: [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data }, title: said },
      { type: 'text', text: said, ...marked },
    ],
  })),
)
const anthropicLoop = fc.tuple(ids, text, given, fc.boolean()).map(([calls, said, input, isError]) => [
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: said, signature: signatureOf(said) },
      { type: 'redacted_thinking', data: 'b3BhcXVl' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: [{ type: 'web_search_result', encrypted_content: 'eA==' }],
      },
      ...calls.map((id) => ({ type: 'tool_use', id, name: 'read_file', input })),
    ],
  },
  {
    role: 'user',
    content: calls.map((id) => ({ type: 'tool_result', tool_use_id: id, content: said, is_error: isError })),
  },
])
const anthropic = fc.tuple(
  fc.array(
    fc.oneof(
      anthropicUser.map((one) => [one]),
      anthropicLoop,
    ),
    { minLength: 1, maxLength: 6 },
  ),
  fc.boolean(),
  unknown,
)
const chatLoop = fc.tuple(ids, text, given).map(([calls, said, input]) => [
  {
    role: 'assistant',
    content: null,
    tool_calls: calls.map((id) => ({
      id,
      type: 'function',
      function: { name: 'find', arguments: JSON.stringify(input) },
    })),
  },
  ...calls.map((id) => ({ role: 'tool', tool_call_id: id, content: said })),
])
const chat = fc.tuple(
  fc.array(
    fc.oneof(
      text.map((content) => [{ role: 'user', content }]),
      chatLoop,
    ),
    { minLength: 1, maxLength: 6 },
  ),
  fc.boolean(),
  unknown,
)
const responsesLoop = fc
  .tuple(ids, text, given)
  .map(([calls, said, input]) => [
    { type: 'reasoning', id: `rs_${calls[0]}`, summary: [], encrypted_content: Buffer.from(said).toString('base64') },
    ...calls.map((id) => ({ type: 'function_call', call_id: id, name: 'find', arguments: JSON.stringify(input) })),
    ...calls.map((id) => ({ type: 'function_call_output', call_id: id, output: said })),
  ])
const responses = fc.tuple(
  fc.array(
    fc.oneof(
      text.map((content) => [{ role: 'user', content }]),
      responsesLoop,
    ),
    { minLength: 1, maxLength: 6 },
  ),
  fc.boolean(),
  unknown,
)
const headers = fc.constantFrom<Readonly<Record<string, string>>>(
  {},
  { 'anthropic-beta': 'context-management-2026-01-01,other' },
  { 'x-claude-code-session-id': 'a-session' },
)

export const generatedCall: fc.Arbitrary<GeneratedCall> = fc.oneof(
  fc.tuple(anthropic, headers).map(([[messages, stream, others], sent]) => ({
    kind: 'anthropic' as const,
    body: { model: 'claude-opus-4-5', max_tokens: 4096, messages: messages.flat(), stream, ...others },
    headers: sent,
  })),
  fc.tuple(chat, headers).map(([[messages, stream, others], sent]) => ({
    kind: 'chat' as const,
    body: { model: 'gpt-4o', messages: messages.flat(), stream, ...others },
    headers: sent,
  })),
  fc.tuple(responses, headers).map(([[input, stream, others], sent]) => ({
    kind: 'responses' as const,
    body: { model: 'gpt-5', input: input.flat(), stream, ...others },
    headers: sent,
  })),
  fc.array(text, { minLength: 1, maxLength: 4 }).map((texts) => ({
    kind: 'ai-sdk' as const,
    body: { messages: texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })) },
    headers: {},
  })),
)

/** Sends a call by the package of its provider. @returns its result, or its error as a text */
export async function send(
  call: GeneratedCall,
  base: { anthropic: string; openai: string },
  fetch: Fetch,
): Promise<unknown> {
  try {
    return await result(call, base, fetch)
  } catch (error) {
    return String(error)
  }
}

async function result(
  { kind, body, headers }: GeneratedCall,
  base: { anthropic: string; openai: string },
  fetch: Fetch,
): Promise<unknown> {
  const anthropicClient = () => new Anthropic({ baseURL: base.anthropic, apiKey: 'sk-ant', maxRetries: 0, fetch })
  const openAi = () => new OpenAi({ baseURL: base.openai, apiKey: 'sk-openai', maxRetries: 0, fetch })
  // The types of the packages know no fields of the future.
  const given = body as never
  switch (kind) {
    case 'anthropic':
      return whole(await anthropicClient().messages.create(given, { headers }))
    case 'chat':
      return whole(await openAi().chat.completions.create(given, { headers }))
    case 'responses':
      return whole(await openAi().responses.create(given, { headers }))
    case 'ai-sdk': {
      const provider = createOpenAICompatible({ name: 'compatible', baseURL: base.openai, apiKey: 'sk-openai', fetch })
      const messages = body['messages'] as ModelMessage[]
      const { text: said, finishReason } = await generateText({ model: provider('a-model'), messages, maxRetries: 0 })
      return { said, finishReason }
    }
  }
}

async function whole(reply: unknown): Promise<unknown> {
  if (typeof reply !== 'object' || reply === null || !(Symbol.asyncIterator in reply)) return reply
  const events: unknown[] = []
  for await (const event of reply as AsyncIterable<unknown>) events.push(event)
  return events
}

/** A number below a bound that follows from the bytes of a request. */
export function numberOf(body: Buffer, bound: number): number {
  return createHash('sha256').update(body).digest().readUInt32BE(0) % bound
}
