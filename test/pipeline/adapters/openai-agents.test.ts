import { HeddleSession } from '@heddle/openai-agents'
import {
  Agent,
  type AgentInputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  OutputGuardrailTripwireTriggered,
  run,
  setTracingDisabled,
  tool,
  Usage,
} from '@openai/agents'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { serveAdapter } from './adapter-support.js'

setTracingDisabled(true)

const heddle = serveAdapter()

/** A model that replies by a script, and records its inputs. */
function scripted(reply: (input: readonly AgentInputItem[], count: number) => ModelResponse['output']) {
  const inputs: AgentInputItem[][] = []
  const model: Model = {
    async getResponse({ input }: ModelRequest) {
      const items: AgentInputItem[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input
      inputs.push(structuredClone(items))
      return { usage: new Usage(), output: reply(items, inputs.length) }
    },
    // biome-ignore lint/correctness/useYield: no test streams.
    async *getStreamedResponse() {
      throw new Error('not scripted')
    },
  }
  return { model, inputs }
}

const text = (said: string): ModelResponse['output'] => [
  { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: said }] },
]
const call = (id: string, name: string, given: object): ModelResponse['output'] => [
  { type: 'function_call', callId: id, name, status: 'completed', arguments: JSON.stringify(given) },
]
const textsOf = (items: readonly AgentInputItem[]) =>
  items.flatMap((item) => {
    if (!('role' in item)) return [item.type]
    if (typeof item.content === 'string') return [item.content]
    return item.content.map((part) => ('text' in part ? part.text : part.type))
  })

test('a runner stores input, calls, results and replies, and the next run has them', async () => {
  const options = { agent: 'runner', sessionId: 'runner', url: heddle.url }
  const { model, inputs } = scripted((_, count) =>
    count === 1 ? call('c', 'look', { at: 1 }) : text(`Reply ${count}`),
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
  const { model, inputs } = scripted((_, count) => (count === 1 ? call('p', 'pay', { sum: 5 }) : text('Paid.')))
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
  const { model } = scripted((_, count) => (count === 1 ? call('s', 'send', {}) : text('The secret.')))
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

function _openIn(items: readonly AgentInputItem[]): string[] {
  const open = new Set<string>()
  const orphans: string[] = []
  for (const item of items) {
    if (!('callId' in item) || typeof item.callId !== 'string') continue
    if (!/output|result/.test(item.type)) open.add(item.callId)
    else if (!open.delete(item.callId)) orphans.push(item.callId)
  }
  return [...orphans, ...open]
}
