import { HeddleSession } from '@heddle/openai-agents'
import { Agent, OutputGuardrailTripwireTriggered, run, setTracingDisabled, tool } from '@openai/agents'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { serveAdapter } from './adapter-support.js'
import { callsTool, saysText, scriptedAgentModel, textsOf } from './scripted-agent-model.js'

setTracingDisabled(true)

const heddle = serveAdapter()

test('a runner stores input, calls, results and replies, and the next run has them', async () => {
  const options = { agent: 'runner', sessionId: 'runner', url: heddle.url }
  const { model, inputs } = scriptedAgentModel((_, count) =>
    count === 1 ? callsTool('c', 'look', { at: 1 }) : saysText(`Reply ${count}`),
  )
  const look = tool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({ at: z.number() }),
    execute: () => 'A tide.',
  })
  const agent = new Agent({ name: 'Pilot', model, tools: [look] })
  await run(agent, 'Look.', { session: new HeddleSession(options) })
  await run(agent, 'And now?', { session: new HeddleSession(options) })
  expect(textsOf(inputs.at(-1) ?? [])).toEqual([
    'Look.',
    'function_call',
    'function_call_result',
    'Reply 2',
    'And now?',
  ])
  const { items } = await heddle.client.messages.list({ thread: 'runner', limit: 50 })
  expect(items.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'Look.'],
    ['assistant', ''],
    ['tool_result', 'A tide.'],
    ['assistant', 'Reply 2'],
    ['user', 'And now?'],
    ['assistant', 'Reply 3'],
  ])
})

test('a run that waits for an approval is resumed, and its call is stored once', async () => {
  const options = { agent: 'runner', sessionId: 'approval', url: heddle.url }
  const { model, inputs } = scriptedAgentModel((_, count) =>
    count === 1 ? callsTool('p', 'pay', { sum: 5 }) : saysText('Paid.'),
  )
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ sum: z.number() }),
    needsApproval: true,
    execute: ({ sum }) => `${sum} paid`,
  })
  const agent = new Agent({ name: 'Clerk', model, tools: [pay] })
  const paused = await run(agent, 'Pay 5.', { session: new HeddleSession(options) })
  expect(paused.interruptions).toHaveLength(1)
  for (const interruption of paused.interruptions) paused.state.approve(interruption)
  const session = new HeddleSession(options)
  await run(agent, paused.state, { session })
  await run(agent, 'Thanks.', { session })
  const said = ['Pay 5.', 'function_call', 'function_call_result', 'Paid.']
  expect(textsOf(await session.getItems())).toEqual([...said, 'Thanks.', 'Paid.'])
  expect(textsOf(inputs.at(-1) ?? [])).toEqual([...said, 'Thanks.'])
})

test('a reply that a guardrail blocks after a tool ran is left out, and the call of the tool stays', async () => {
  const options = { agent: 'runner', sessionId: 'guarded', url: heddle.url }
  const { model } = scriptedAgentModel((_, count) =>
    count === 1 ? callsTool('s', 'send', {}) : saysText('The secret.'),
  )
  const send = tool({ name: 'send', description: 'Sends.', parameters: z.object({}), execute: () => 'Sent.' })
  const guard = {
    name: 'no secrets',
    execute: async () => ({ tripwireTriggered: true, outputInfo: {} }),
  }
  const agent = new Agent({ name: 'Guarded', model, tools: [send], outputGuardrails: [guard] })
  const session = new HeddleSession(options)
  await expect(run(agent, 'Send it.', { session })).rejects.toThrow(OutputGuardrailTripwireTriggered)
  const expected = ['Send it.', 'function_call', 'function_call_result']
  expect(textsOf(await new HeddleSession(options).getItems())).toEqual(expected)
})
