import { countTokens } from '@heddle/core'
import { heddleMiddleware } from '@heddle/langchain'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { MemorySaver } from '@langchain/langgraph'
import { ClearToolUsesEdit, contextEditingMiddleware, createAgent, summarizationMiddleware, tool } from 'langchain'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { serveAdapter } from './adapter-support.js'
import { calls, look, orphansInMessages, run, ScriptedChat, says } from './scripted-chat.js'

const served = serveAdapter()
const { entriesOf } = served

describe('faults that were reported of other middleware', () => {
  /** Ten turns with two calls at once, whose results are long. */
  const parallel = () =>
    new ScriptedChat((messages, count) =>
      ToolMessage.isInstance(messages.at(-1))
        ? says('Noted.')
        : calls(...[1, 2].map((each) => ({ id: `c${count}-${each}`, name: 'look', args: { at: count } }))),
    )

  test.each([
    { title: 'langchain#38352 and #34282: summarization', beside: 'summary' },
    { title: 'deepagents#270: edits of the context', beside: 'edits' },
    { title: 'neither', beside: null },
  ])('$title beside it leaves no call without its results, and no result without its call', async ({ beside }) => {
    const thread = `orphans-${beside}`
    const model = parallel()
    const summarizer = new ScriptedChat(() => says('A summary of earlier turns.'))
    const heddle = heddleMiddleware({ agent: 'langchain', url: served.url, budget: 3_000 })
    const others = {
      summary: [summarizationMiddleware({ model: summarizer, trigger: { messages: 6 }, keep: { messages: 3 } })],
      edits: [
        contextEditingMiddleware({
          edits: [new ClearToolUsesEdit({ trigger: { tokens: 1_000 }, keep: { messages: 1 } })],
        }),
      ],
    }
    const middleware = [...(beside === null ? [] : others[beside as 'summary']), heddle]
    const agent = createAgent({ model, tools: [look], checkpointer: new MemorySaver(), middleware })
    for (let turn = 1; turn <= 10; turn++) {
      await agent.invoke({ messages: [new HumanMessage(`Turn ${turn}`)] }, run(thread))
    }
    expect(model.requests.flatMap(orphansInMessages)).toEqual([])
    // Also where the other middleware removed messages from the state, all of them are stored.
    const roles = (await entriesOf(thread)).map(({ role }) => role)
    expect(roles.filter((role) => role === 'tool_result')).toHaveLength(20)
    expect(roles.filter((role) => role === 'user')).toHaveLength(10)
  })

  test('deepagents#270: a result whose call was removed from the state, and a call without a result, reach no model', async () => {
    const model = new ScriptedChat(() => says('Done.'))
    const agent = createAgent({
      model,
      tools: [look],
      middleware: [heddleMiddleware({ agent: 'langchain', url: served.url })],
    })
    const messages = [
      new HumanMessage('Look.'),
      new ToolMessage({ content: 'seen', tool_call_id: 'removed' }),
      calls({ id: 'open', name: 'look', args: { at: 1 } }),
      new HumanMessage('Go on.'),
    ]
    await agent.invoke({ messages }, run('removed'))
    const [sent = []] = model.requests
    expect(orphansInMessages(sent)).toEqual([])
    expect(JSON.stringify(sent.map(({ content }) => content))).toContain('seen')
  })

  test('langchain#34664: instructions and tools are counted, too', async () => {
    const budget = 6_000
    const tools = Array.from({ length: 12 }, (_, index) =>
      tool(() => 'x', {
        name: `tool${index}`,
        description: 'Does this and that. '.repeat(40),
        schema: z.object({ at: z.number() }),
      }),
    )
    const systemPrompt = 'Be careful. '.repeat(200)
    const model = new ScriptedChat(() => says('A long reply. '.repeat(60)))
    const agent = createAgent({
      model,
      tools,
      systemPrompt,
      middleware: [heddleMiddleware({ agent: 'langchain', url: served.url, budget })],
    })
    for (let turn = 0; turn < 30; turn++)
      await agent.invoke({ messages: [new HumanMessage(`Turn ${turn}`)] }, run('counted'))
    const described = tools.reduce((sum, { name, description }) => sum + countTokens(`${name} ${description}`), 0)
    const sizes = model.requests.map((sent) => sent.reduce((sum, { text }) => sum + countTokens(text), described))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(budget)
    expect(described + countTokens(systemPrompt)).toBeGreaterThan(budget / 4)
  })
})
