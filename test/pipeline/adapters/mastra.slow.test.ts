import { countTokens } from '@heddle/core'
import { heddleProcessors } from '@heddle/mastra'
import { expect, test } from 'vitest'
import { serveAdapter, startOutages, takeTurnsInOutage } from './adapter-support.js'
import { runLoop } from './mastra-loop.js'
import { orphansIn, scriptedModel } from './scripted-model.js'

const heddle = serveAdapter()
const { entriesOf } = heddle
const processorOf = (options: Parameters<typeof heddleProcessors>[0]) => heddleProcessors(options).inputProcessors[0]
const say = (content: string) => ({ role: 'user', content })

test('each request is within the budget, without orphans, and begins like the one before', async () => {
  const scripted = scriptedModel('v3', (_, count) =>
    count % 20 === 0 ? { text: `Reply ${count}` } : { call: { name: 'look', input: { at: count } } },
  )
  const processor = processorOf({ agent: 'mastra', url: heddle.url, budget: 4_000 })
  const list: Parameters<typeof runLoop>[0] = []
  const tool = () => `${scripted.prompts.length} ${'line '.repeat(150)}`
  for (const content of ['One', 'Two', 'Three']) {
    list.push(say(content))
    await runLoop(list, { processor, scripted, thread: 'bounded', stepsMax: 20, tool })
  }
  expect(scripted.prompts).toHaveLength(60)
  expect(scripted.prompts.flatMap(orphansIn)).toEqual([])
  const tokens = scripted.prompts.map((prompt) => countTokens(JSON.stringify(prompt)))
  // Written as JSON a message has more tokens than a provider counts.
  expect(Math.max(...tokens)).toBeLessThan(6_000)
  expect(countTokens(JSON.stringify(list))).toBeGreaterThan(12_000)
  const continued = scripted.prompts.filter((prompt, index) => {
    const before = scripted.prompts[index - 1] ?? []
    return before.every((message, place) => JSON.stringify(message) === JSON.stringify(prompt[place]))
  })
  expect(continued.length).toBeGreaterThan(30)
  expect(await entriesOf('bounded')).toHaveLength(list.length)
})

test('without Heddle the agent goes on within 100 ms a call, says so once, and what was said is made up for', async () => {
  const outages = await startOutages(() => heddle.url)
  const scripted = scriptedModel('v2', (_, count) =>
    count % 2 === 1 ? { call: { name: 'look', input: {} } } : { text: `Reply ${count}` },
  )
  const processor = processorOf({ agent: 'away', ...outages.options })
  const list: Parameters<typeof runLoop>[0] = []
  const turn = async (content: string) => {
    list.push(say(content))
    await runLoop(list, { processor, scripted, thread: 'away' })
  }
  await takeTurnsInOutage(outages, turn)
  const entries = await entriesOf('away')
  expect(entries.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
    ...['One', 'Two', 'Three', 'Four'],
  ])
  expect(entries).toHaveLength(16)
})

test('the thread is that of the option, of the message list, or of the request context', async () => {
  const scripted = scriptedModel('v2', () => ({ text: 'Yes.' }))
  const options = { agent: 'mastra', url: heddle.url }
  const contextOf = (values: Readonly<Record<string, unknown>>) => ({ get: (name: string) => values[name] })
  await runLoop([say('a')], { processor: processorOf({ ...options, thread: 'fixed' }), scripted, thread: 'other' })
  const byUser = processorOf({ ...options, thread: (context) => `user-${String(context?.get('user'))}` })
  await runLoop([say('b')], { processor: byUser, scripted, requestContext: contextOf({ user: 7 }) })
  const remembered = contextOf({ MastraMemory: { thread: { id: 'remembered' } } })
  await runLoop([say('c')], { processor: processorOf(options), scripted, requestContext: remembered })
  const named = contextOf({ mastra__threadId: 'named' })
  await runLoop([say('d')], { processor: processorOf(options), scripted, requestContext: named })
  const threads = ['fixed', 'user-7', 'remembered', 'named']
  const firsts = await Promise.all(threads.map(async (thread) => (await entriesOf(thread))[0]?.content))
  expect(firsts).toEqual(['a', 'b', 'c', 'd'])
  await expect(runLoop([say('e')], { processor: processorOf(options), scripted })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    field: 'thread',
    received: 'nothing',
    hint: expect.stringContaining('memory.thread'),
  })
})
