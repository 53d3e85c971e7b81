import { countTokens } from '@heddle/core'
import { HeddleChatMessageHistory, heddleMiddleware } from '@heddle/langchain'
import { AIMessage, HumanMessage, SystemMessage } from '@langchain/core/messages'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { expect, test } from 'vitest'
import { serveAdapter, startOutages, takeTurnsInOutage } from './adapter-support.js'
import { calls, look, run, ScriptedChat, says } from './scripted-chat.js'

const heddle = serveAdapter()
const { entriesOf } = heddle

test('without Heddle the agent goes on within 100 ms a call, says so once, and what was said is made up for', async () => {
  const outages = await startOutages(() => heddle.url)
  const model = new ScriptedChat((messages, count) =>
    count % 2 === 1 ? calls({ id: `c${count}`, name: 'look', args: { at: messages.length } }) : says(`Reply ${count}`),
  )
  const checkpointer = new MemorySaver()
  const middleware = [heddleMiddleware({ agent: 'away', ...outages.options })]
  const agent = createAgent({ model, tools: [look], checkpointer, middleware })
  const turn = async (content: string) => {
    await agent.invoke({ messages: [new HumanMessage(content)] }, run('away'))
  }
  await takeTurnsInOutage(outages, turn)
  const entries = await entriesOf('away')
  expect(entries.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
    'One',
    'Two',
    'Three',
    'Four',
  ])
  expect(entries).toHaveLength(16)
})

test('a long history is within its budget, and goes on in memory without Heddle', async () => {
  const outages = await startOutages(() => heddle.url)
  const options = { agent: 'history', thread: 'long-history', budget: 2_000 }
  const history = new HeddleChatMessageHistory({ ...options, ...outages.options })
  for (let turn = 0; turn < 30; turn++)
    await history.addMessages([new HumanMessage(`Turn ${turn}`), new AIMessage('word '.repeat(200))])
  const messages = await history.getMessages()
  expect(messages.reduce((sum, { text }) => sum + countTokens(text), 0)).toBeLessThanOrEqual(2_000)
  expect(messages.some((message) => SystemMessage.isInstance(message))).toBe(false)
  outages.stop()
  await history.addUserMessage('Away')
  expect((await history.getMessages()).at(-1)?.text).toBe('Away')
  outages.start()
  outages.pass()
  await history.addUserMessage('Back')
  const entries = await entriesOf('long-history')
  expect(entries.slice(-2).map(({ content }) => content)).toEqual(['Away', 'Back'])
})
