import { HeddleSession } from '@heddle/openai-agents'
import { Agent, run, setTracingDisabled } from '@openai/agents'
import { expect, test } from 'vitest'
import { serveAdapter, startOutages } from './adapter-support.js'
import { openIn, saysText, scriptedAgentModel, textsOf } from './scripted-agent-model.js'

setTracingDisabled(true)

const heddle = serveAdapter()

test('a long history is within its budget, and calls keep their results', async () => {
  const options = { agent: 'bounded', sessionId: 'bounded', url: heddle.url, budget: 4_000 }
  const session = new HeddleSession(options)
  for (let turn = 0; turn < 30; turn++) {
    await session.addItems([
      { role: 'user', content: `Turn ${turn}` },
      { type: 'reasoning', id: `rs_${turn}`, content: [{ type: 'input_text', text: 'Hm.' }] },
      { type: 'function_call', callId: `c${turn}`, name: 'look', status: 'completed', arguments: `{"at":${turn}}` },
      { type: 'shell_call', callId: `s${turn}`, action: { commands: ['ls'] } },
      {
        type: 'function_call_result',
        callId: `c${turn}`,
        name: 'look',
        status: 'completed',
        output: 'line '.repeat(200),
      },
      {
        type: 'shell_call_output',
        callId: `s${turn}`,
        output: [{ stdout: 'a.ts', stderr: '', outcome: { type: 'exit', exitCode: 0 } }],
      },
    ])
  }
  const items = await session.getItems()
  expect(await new HeddleSession(options).getItems()).toEqual(items)
  expect(JSON.stringify(items).length / 4).toBeLessThan(options.budget * 1.5)
  expect(items.at(-1)).toMatchObject({ type: 'shell_call_output', callId: 's29' })
  expect(openIn(items)).toEqual([])
  expect(textsOf(items).some((said) => said.includes('Earlier conversation summary'))).toBe(true)
  expect(await session.getItems(12)).toHaveLength(12)
})

test('without Heddle a session goes on within 100 ms a call, says so once, and what was said is made up for', async () => {
  const outages = await startOutages(() => heddle.url)
  const options = { agent: 'away', sessionId: 'away', ...outages.options }
  const session = new HeddleSession(options)
  const { model, inputs } = scriptedAgentModel((_, count) => saysText(`Reply ${count}`))
  const agent = new Agent({ name: 'Steady', model })
  await run(agent, 'One', { session })
  outages.stop()
  await session.getItems()
  await session.addItems([{ role: 'user', content: 'Aside' }])
  expect(await session.popItem()).toEqual({ role: 'user', content: 'Aside' })
  await run(agent, 'Two', { session })
  expect(outages.attempts()).toBeLessThanOrEqual(1)
  outages.pass()
  const transaction = { type: 'append_items' as const, items: [{ role: 'user' as const, content: 'Noted' }] }
  for (const _ of [1, 2]) await session.applyHistoryTransaction({ operationId: 'n', transaction })
  await run(agent, 'Three', { session })
  expect(textsOf(await session.getItems(2))).toEqual(['Three', 'Reply 3'])
  expect(textsOf(inputs.at(-1) ?? [])).toEqual(['One', 'Reply 1', 'Two', 'Reply 2', 'Noted', 'Three'])
  expect(outages.attempts()).toBeLessThanOrEqual(1)
  expect(outages.aways).toMatchObject([{ code: 'SERVICE_UNAVAILABLE' }])
  outages.start()
  outages.pass()
  await run(agent, 'Four', { session })
  const all = ['One', 'Reply 1', 'Two', 'Reply 2', 'Noted', 'Three', 'Reply 3', 'Four', 'Reply 4']
  expect(textsOf(await new HeddleSession({ ...options, url: heddle.url }).getItems())).toEqual(all)
})

test('a Heddle that does not answer is waited for once, and gets what was said when it answers', async () => {
  const outages = await startOutages(() => heddle.url)
  const options = { agent: 'slow', sessionId: 'slow', ...outages.options }
  const session = new HeddleSession({ ...options, deadlineMs: 2_000 })
  await session.addItems([{ role: 'user', content: 'One' }])
  await session.getItems()
  const release = outages.hold()
  await session.addItems([{ role: 'user', content: 'Two' }])
  expect(outages.aways).toHaveLength(1)
  outages.pass()
  const startedMs = performance.now()
  await session.addItems([{ role: 'user', content: 'Three' }])
  // A second wait until the deadline would take longer.
  expect(performance.now() - startedMs).toBeLessThan(2_000)
  expect(textsOf(await session.getItems())).toEqual(['One', 'Two', 'Three'])
  expect(outages.aways).toHaveLength(1)
  release()
  // Even before the pause after a failure is over.
  expect(await session.flush()).toBe(true)
  expect(textsOf(await new HeddleSession(options).getItems())).toEqual(['One', 'Two', 'Three'])
})

test('a history that is too large for the store is refused with its field, and what was there before stays', async () => {
  const session = new HeddleSession({ agent: 'large', sessionId: 'large', url: heddle.url })
  await session.addItems([{ role: 'user', content: 'Small' }])
  const large = session.addItems([{ role: 'user', content: 'x'.repeat(4_000_001) }])
  await expect(large).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE', field: 'messages.0.content' })
  await session.addItems([{ role: 'user', content: 'Next' }])
  expect(textsOf(await session.getItems())).toEqual(['Small', 'Next'])
})
