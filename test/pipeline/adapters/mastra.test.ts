import { heddleProcessors, heddleTools } from '@heddle/mastra'
import { expect, test } from 'vitest'
import { serveAdapter } from './adapter-support.js'
import { runLoop } from './mastra-loop.js'
import { scriptedModel } from './scripted-model.js'

const heddle = serveAdapter()
const { entriesOf } = heddle
const processorOf = (options: Parameters<typeof heddleProcessors>[0]) => heddleProcessors(options).inputProcessors[0]
const say = (content: string) => ({ role: 'user', content })

test('prompts, calls, results and replies are stored once, with usage, and the message list stays as it is', async () => {
  const scripted = scriptedModel('v2', (_, count) =>
    count === 1 ? { call: { name: 'look', input: { at: 1 } } } : { text: `Reply ${count}` },
  )
  const options = { agent: 'mastra', url: heddle.url, budget: 8_000 }
  const list = [say('Look.')]
  await runLoop(list, { processor: processorOf(options), scripted, thread: 'stored' })
  expect(list.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  // Another process goes on with the same words: at first with the memory of Mastra, then without.
  list.push(say('Look.'))
  await runLoop(list, { processor: processorOf(options), scripted, thread: 'stored' })
  await runLoop([say('Go on.')], { processor: processorOf(options), scripted, thread: 'stored' })
  const entries = await entriesOf('stored')
  expect(entries.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'Look.'],
    ['assistant', ''],
    ['tool_result', 'seen'],
    ['assistant', 'Reply 2'],
    ['user', 'Look.'],
    ['assistant', 'Reply 3'],
    ['user', 'Go on.'],
    ['assistant', 'Reply 4'],
  ])
  expect(entries[1]?.toolCalls).toMatchObject([{ id: entries[2]?.toolCallId, name: 'look' }])
  expect(entries[3]).toMatchObject({
    model: 'scripted-1',
    usage: { inputTokens: 60, cacheReadTokens: 40, outputTokens: 10 },
    contextId: expect.any(String),
  })
  expect(scripted.prompts.at(-1)?.map(({ role }) => role)).toEqual([
    ...['system', 'user', 'assistant', 'tool', 'assistant', 'user', 'assistant', 'user'],
  ])
})

test('a run that ends with the result of a tool leaves it stored', async () => {
  const scripted = scriptedModel('v2', () => ({ call: { name: 'look', input: {} } }))
  const processor = processorOf({ agent: 'mastra', url: heddle.url })
  await runLoop([say('Look.')], { processor, scripted, thread: 'ended', stepsMax: 2 })
  expect((await entriesOf('ended')).map(({ role }) => role)).toEqual([
    ...['user', 'assistant', 'tool_result', 'assistant', 'tool_result'],
  ])
})

test('the tools recall and search, and a fault is their result', async () => {
  const names = { agent: 'mastra-tools', thread: 'tools' }
  const messages = [{ role: 'user' as const, content: 'The tide changes at six.' }]
  await heddle.client.messages.append({ ...names, messages })
  await heddle.client.threads.waitUntilSettled('tools')
  const { recall, search } = heddleTools({ ...names, url: heddle.url })
  const [entry] = await entriesOf('tools')
  expect(await recall.execute({ ref: entry?.reference ?? '' })).toMatchObject({ content: 'The tide changes at six.' })
  expect(await search.execute({ query: 'tide' })).toMatchObject([{ ref: expect.any(String) }])
  expect(await recall.execute({ ref: 'msg-00000000' })).toMatchObject({ error: expect.stringContaining('not found') })
})
