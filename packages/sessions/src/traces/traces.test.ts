import { expect, test } from 'vitest'
import { parseSession } from '../parse.js'
import type { SessionFormat } from '../parsed.js'

/** Reads a file twice: a second import must give the same ids. */
function read(records: readonly object[], format: SessionFormat) {
  const text = records.map((record) => JSON.stringify(record)).join('\n')
  const parse = () => parseSession(text, { fileName: 'traces.jsonl', format: 'auto' })
  const file = parse()
  expect(file.format).toBe(format)
  const identities = (of: typeof file) => of.threads.map(({ messages }) => messages.map(({ identity }) => identity))
  expect(identities(parse())).toEqual(identities(file))
  return file
}

const inputsOf = (file: ReturnType<typeof read>, thread = 0) => file.threads[thread]?.messages.map(({ input }) => input)

/** The conversation that the samples of all formats say, in two calls of a model. */
const said = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Which port?' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'read', arguments: { path: 'port.txt' } }] },
  { role: 'tool_result', content: '5433', toolCallId: 'call_1', toolName: 'read' },
  { role: 'assistant', content: 'It is 5433.' },
]

const constructed = (type: string, kwargs: object) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain', 'schema', 'messages', type],
  kwargs,
})
const prompt = [
  constructed('SystemMessage', { content: 'Be brief.', type: 'system' }),
  constructed('HumanMessage', { content: 'Which port?', type: 'human' }),
]
const call = constructed('AIMessage', {
  content: '',
  type: 'ai',
  tool_calls: [{ name: 'read', args: { path: 'port.txt' }, id: 'call_1', type: 'tool_call' }],
})
const result = constructed('ToolMessage', { content: '5433', type: 'tool', tool_call_id: 'call_1' })
const run = (id: string, inputs: object, message: object, more = {}) => ({
  id,
  name: 'ChatOpenAI',
  run_type: 'llm',
  trace_id: 'trace-1',
  start_time: '2026-03-01T10:00:00.123456',
  end_time: '2026-03-01T10:00:01.000000',
  prompt_tokens: 100,
  completion_tokens: 10,
  extra: { metadata: { ls_model_name: 'gpt-5', thread_id: 'chat-7' } },
  inputs,
  outputs: { generations: [[{ text: '', type: 'ChatGeneration', message }]], llm_output: null },
  ...more,
})

test('runs of LangSmith are one conversation, each message once, with calls joined to their results', () => {
  const answer = constructed('AIMessage', { content: 'It is 5433.', type: 'ai', tool_calls: [] })
  const file = read(
    [
      { id: 'root', run_type: 'chain', inputs: { input: 'Which port?' }, trace_id: 'trace-1' },
      run('1', { messages: [prompt] }, call),
      { id: '2', run_type: 'tool', inputs: { input: 'port.txt' }, outputs: { output: '5433' }, trace_id: 'trace-1' },
      run('3', { messages: [[...prompt, call, result]] }, answer, { trace_id: 'trace-2' }),
    ],
    'langsmith',
  )
  expect(inputsOf(file)).toMatchObject(said)
  expect(inputsOf(file)).toHaveLength(said.length)
  expect(inputsOf(file)?.at(-1)).toMatchObject({
    model: 'gpt-5',
    sentAt: '2026-03-01T10:00:01.000Z',
    usage: { inputTokens: 100, outputTokens: 10 },
  })
  expect(file.skipped).toEqual({ 'run/chain': 1, 'run/tool': 1 })
})

test('a run of a model without messages is named by its line', () => {
  const empty = { ...run('2', {}, call), outputs: null }
  expect(() => read([run('1', { messages: [prompt] }, call), empty], 'langsmith')).toThrow(/line 2: a run of a model/)
})

const openAi = {
  prompt: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Which port?' },
  ],
  call: {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":"port.txt"}' } }],
  },
  result: { role: 'tool', tool_call_id: 'call_1', content: '5433' },
}
const saidByOpenAi = said.map((message) =>
  message.toolCalls === undefined
    ? message
    : { ...message, toolCalls: [{ id: 'call_1', name: 'read', arguments: '{"path":"port.txt"}' }] },
)

test('generations of Langfuse are a conversation for each session, from the API and from exports', () => {
  const generation = (id: string, input: unknown, output: unknown) => ({
    id,
    traceId: `trace-${id}`,
    sessionId: 'chat-7',
    type: 'GENERATION',
    startTime: '2026-03-01T10:00:00.000Z',
    endTime: '2026-03-01T10:00:01.000Z',
    model: 'gpt-5',
    usageDetails: { input: 100, output: 10, total: 110 },
    input,
    output,
  })
  const second = { messages: [...openAi.prompt, openAi.call, openAi.result] }
  const file = read(
    [
      { id: 'span', traceId: 'trace-1', type: 'SPAN', input: 'Which port?' },
      generation('1', openAi.prompt, openAi.call),
      generation('2', second, 'It is 5433.'),
    ],
    'langfuse',
  )
  expect(inputsOf(file)).toMatchObject(saidByOpenAi)
  expect(file.skipped).toEqual({ 'observation/SPAN': 1 })
  const exported = read(
    [
      {
        id: '1',
        trace_id: 'trace-1',
        session_id: null,
        type: 'GENERATION',
        start_time: '2026-03-01 10:00:00.000000',
        end_time: '2026-03-01 10:00:01.500000',
        provided_model_name: 'gpt-5',
        usage_details: { input: 100, output: 10 },
        input: JSON.stringify(openAi.prompt),
        output: JSON.stringify(openAi.call),
      },
    ],
    'langfuse',
  )
  expect(inputsOf(exported)).toMatchObject(saidByOpenAi.slice(0, 3))
  expect(inputsOf(exported)?.at(-1)).toMatchObject({ sentAt: '2026-03-01T10:00:01.500Z', model: 'gpt-5' })
})

const text = (content: string) => ({ type: 'text', content })
const attribute = (key: string, value: object) => ({ key, value })
const messages = (key: string, value: unknown) => attribute(key, { stringValue: JSON.stringify(value) })
const span = (id: string, attributes: readonly object[]) => ({
  traceId: 'a'.repeat(32),
  spanId: id,
  name: 'chat gpt-5',
  startTimeUnixNano: '1772359200000000000',
  endTimeUnixNano: '1772359201000000000',
  attributes: [
    attribute('gen_ai.operation.name', { stringValue: 'chat' }),
    attribute('gen_ai.response.model', { stringValue: 'gpt-5' }),
    attribute('gen_ai.usage.input_tokens', { intValue: '100' }),
    attribute('gen_ai.usage.output_tokens', { intValue: '10' }),
    ...attributes,
  ],
})
const request = (...spans: readonly object[]) => ({
  resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ scope: { name: 'openai' }, spans }] }],
})
const asked = { role: 'user', parts: [text('Which port?')] }
const calls = {
  role: 'assistant',
  parts: [{ type: 'tool_call', id: 'call_1', name: 'read', arguments: { path: 'port.txt' } }],
}
const answers = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call_1', response: '5433' }] }

test('spans of OpenTelemetry are a conversation for each trace, or by its id', () => {
  const system = messages('gen_ai.system_instructions', [text('Be brief.')])
  const file = read(
    [
      request(
        span('1', [system, messages('gen_ai.input.messages', [asked]), messages('gen_ai.output.messages', [calls])]),
        { ...span('2', []), name: 'execute_tool read' },
      ),
      request(
        span('3', [
          system,
          messages('gen_ai.input.messages', [asked, calls, answers]),
          messages('gen_ai.output.messages', [
            { role: 'assistant', parts: [text('It is 5433.')], finish_reason: 'stop' },
          ]),
        ]),
      ),
    ],
    'open-telemetry',
  )
  expect(inputsOf(file)).toMatchObject(said)
  expect(inputsOf(file)?.at(-1)).toMatchObject({
    model: 'gpt-5',
    sentAt: '2026-03-01T10:00:01.000Z',
    usage: { inputTokens: 100, outputTokens: 10 },
  })
  expect(file.skipped).toEqual({ 'span/chat': 1 })
  const conversation = (id: string) => attribute('gen_ai.conversation.id', { stringValue: id })
  const structured = attribute('gen_ai.input.messages', {
    arrayValue: {
      values: [
        {
          kvlistValue: {
            values: [
              attribute('role', { stringValue: 'user' }),
              attribute('parts', {
                arrayValue: {
                  values: [
                    {
                      kvlistValue: {
                        values: [
                          attribute('type', { stringValue: 'text' }),
                          attribute('content', { stringValue: 'Hi' }),
                        ],
                      },
                    },
                  ],
                },
              }),
            ],
          },
        },
      ],
    },
  })
  const two = read(
    [request(span('1', [conversation('a'), structured]), span('2', [conversation('b'), structured]))],
    'open-telemetry',
  )
  expect(two.threads.map(({ suffix }) => suffix)).toEqual([null, 'b'])
  expect(inputsOf(two, 1)).toMatchObject([{ role: 'user', content: 'Hi' }])
})

test('the same words said twice are two messages', () => {
  const again = [asked, { role: 'assistant', parts: [text('5433')] }, asked]
  const file = read([request(span('1', [messages('gen_ai.input.messages', again)]))], 'open-telemetry')
  expect(inputsOf(file)).toHaveLength(3)
})

test('a file that grows by a conversation keeps the thread of its first', () => {
  const generation = (id: string, sessionId: string) => ({
    ...{ id, traceId: `trace-${id}`, sessionId, type: 'GENERATION', model: 'gpt-5' },
    ...{ startTime: '2026-03-01T10:00:00.000Z', input: openAi.prompt, output: openAi.call },
  })
  const records = [generation('1', 'chat-7'), generation('2', 'é'.repeat(300)), generation('3', 'tab\there')]
  const grown = read(records, 'langfuse').threads
  expect(read(records.slice(0, 1), 'langfuse').threads).toEqual(grown.slice(0, 1))
  const [first, long, strange] = grown.map(({ suffix }) => suffix)
  expect([first, strange]).toEqual([null, expect.stringMatching(/^tab_here-[0-9a-f]{12}$/)])
  expect(long).toMatch(/^é{87}-[0-9a-f]{12}$/)
})
