import { HeddleChatMessageHistory, heddleMiddleware, heddleTools } from '@heddle/langchain'
import { InMemoryChatMessageHistory } from '@langchain/core/chat_history'
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { describe, expect, test } from 'vitest'
import { serveAdapter } from './adapter-support.js'
import { calls, look, run, ScriptedChat, says } from './scripted-chat.js'

const heddle = serveAdapter()
const { entriesOf } = heddle

test('prompts, calls, results and replies are stored once, with usage, and the state stays as it is', async () => {
  const model = new ScriptedChat((_, count) =>
    count === 1 ? calls({ id: 'c', name: 'look', args: { at: 1 } }) : says(`Reply ${count}`),
  )
  const options = { agent: 'langchain', url: heddle.url, budget: 8_000 }
  const checkpointer = new MemorySaver()
  const open = () => createAgent({ model, tools: [look], checkpointer, middleware: [heddleMiddleware(options)] })
  const first = await open().invoke({ messages: [new HumanMessage('Look.')] }, run('stored'))
  expect(first.messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai'])
  // Another process goes on, with the same words.
  await open().invoke({ messages: [new HumanMessage('Look.')] }, run('stored'))
  const entries = await entriesOf('stored')
  expect(entries.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool_result',
    'assistant',
    'user',
    'assistant',
  ])
  expect(entries[3]).toMatchObject({
    content: 'Reply 2',
    model: 'scripted-1',
    usage: { inputTokens: 60, cacheReadTokens: 40, outputTokens: 10 },
    contextId: expect.any(String),
  })
  expect(model.requests.at(-1)?.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai', 'human'])
})

test('without a checkpointer a run gets the conversation of its thread, also after the same words', async () => {
  const model = new ScriptedChat((_, count) => says(`Reply ${count}`))
  const middleware = [heddleMiddleware({ agent: 'langchain', url: heddle.url })]
  const agent = createAgent({ model, tools: [], middleware })
  for (const content of ['Go on.', 'Go on.', 'Go on.'])
    await agent.invoke({ messages: [{ role: 'user', content }] }, run('bare'))
  expect((await entriesOf('bare')).map(({ content }) => content)).toEqual([
    ...['Go on.', 'Reply 1', 'Go on.', 'Reply 2', 'Go on.', 'Reply 3'],
  ])
  expect(model.requests.at(-1)).toHaveLength(5)
})

test('messages that a context shows verbatim are the very messages of the agent', async () => {
  const image = { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${PIXEL}` } }
  const reply = new AIMessage({
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      { type: 'text', text: 'A cat.' },
    ],
    additional_kwargs: { provider: 'field' },
  })
  const given = [
    new HumanMessage({ content: [{ type: 'text', text: 'What is it?' }, image] }),
    reply,
    new HumanMessage('Sure?'),
  ]
  const model = new ScriptedChat(() => says('Yes.'))
  const agent = createAgent({
    model,
    tools: [],
    middleware: [heddleMiddleware({ agent: 'langchain', url: heddle.url })],
  })
  await agent.invoke({ messages: given }, run('verbatim'))
  expect(model.requests[0]?.map(({ content }) => content)).toEqual(given.map(({ content }) => content))
  expect(model.requests[0]?.[1]?.additional_kwargs).toEqual({ provider: 'field' })
  const [first] = await entriesOf('verbatim')
  expect(first?.parts).toMatchObject([{ type: 'image', mediaType: 'image/png' }])
})

test('a run without a thread is refused with its field, the rule, and what was received', async () => {
  const model = new ScriptedChat(() => says('Yes.'))
  const options = { agent: 'langchain', url: heddle.url }
  const agent = createAgent({ model, tools: [], middleware: [heddleMiddleware(options)] })
  await expect(agent.invoke({ messages: [new HumanMessage('Hi.')] })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    field: 'thread',
    message: 'thread: must be a name',
    received: 'nothing',
  })
})

test('the tools recall and search, and a fault is their result', async () => {
  const options = { agent: 'langchain-tools', thread: 'tools', url: heddle.url }
  const said = [{ role: 'user' as const, content: 'The tide turns at six.' }]
  await heddle.client.messages.append({ agent: options.agent, thread: options.thread, messages: said })
  await heddle.client.threads.waitUntilSettled('tools')
  const [recall, search] = heddleTools(options)
  const [entry] = await entriesOf('tools')
  expect(JSON.parse(await recall.invoke({ ref: entry?.reference ?? '' }))).toMatchObject({
    content: 'The tide turns at six.',
  })
  expect(JSON.parse(await search.invoke({ query: 'tide' }))).toMatchObject([{ ref: expect.any(String) }])
  expect(JSON.parse(await recall.invoke({ ref: 'msg-00000000' }))).toMatchObject({
    error: expect.stringContaining('not found'),
  })
})

describe.each([
  {
    title: 'the history of the framework',
    open: (_: string) => {
      const history = new InMemoryChatMessageHistory()
      return { history, again: () => history }
    },
  },
  {
    title: 'a history of Heddle',
    open: (thread: string) => {
      const options = { agent: 'history', thread, url: heddle.url }
      return { history: new HeddleChatMessageHistory(options), again: () => new HeddleChatMessageHistory(options) }
    },
  },
])('$title', ({ open }) => {
  const textsOf = (messages: readonly BaseMessage[]) => messages.map(({ type, text }) => `${type} ${text}`)

  test('is empty at first, and returns messages in the order in which they were added', async () => {
    const { history, again } = open('ordered')
    expect(await history.getMessages()).toEqual([])
    await history.addUserMessage('a')
    await history.addAIMessage('b')
    await history.addMessages([new HumanMessage('c'), new AIMessage('c')])
    await history.addMessage(new HumanMessage('a'))
    const expected = ['human a', 'ai b', 'human c', 'ai c', 'human a']
    expect(textsOf(await history.getMessages())).toEqual(expected)
    expect(textsOf(await again().getMessages())).toEqual(expected)
  })

  test('returns calls, results, reasoning and fields of providers as they were added', async () => {
    const { history, again } = open('exact')
    const reply = new AIMessage({
      content: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }],
      tool_calls: [{ id: 'c', name: 'look', args: { at: 1 }, type: 'tool_call' }],
      response_metadata: { model_name: 'm' },
      additional_kwargs: { own: [1] },
    })
    const result = new ToolMessage({
      content: 'seen',
      tool_call_id: 'c',
      name: 'look',
      status: 'error',
      artifact: { a: 1 },
    })
    await history.addMessages([new HumanMessage('Look.'), reply, result])
    for (const messages of [await history.getMessages(), await again().getMessages()]) {
      expect(messages[1]).toMatchObject({
        content: reply.content,
        tool_calls: [{ id: 'c', name: 'look', args: { at: 1 } }],
        additional_kwargs: { own: [1] },
      })
      expect(messages[2]).toMatchObject({ content: 'seen', tool_call_id: 'c', status: 'error' })
    }
  })

  test('is empty after a clear', async () => {
    const { history, again } = open('cleared')
    await history.addUserMessage('a')
    await history.clear()
    expect(await history.getMessages()).toEqual([])
    await history.addUserMessage('b')
    expect(textsOf(await again().getMessages())).toEqual(['human b'])
  })
})

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
