import { HeddleSession } from '@heddle/openai-agents'
import { type AgentInputItem, MemorySession } from '@openai/agents'
import { describe, expect, test } from 'vitest'
import { serveAdapter } from './adapter-support.js'
import { itemsOfEveryKind } from './agent-items.js'

const heddle = serveAdapter()

const says = (content: string): AgentInputItem => ({ role: 'user', content })
const saysAll = (...texts: string[]) => texts.map(says)
let count = 0
const nameOf = () => `session-${++count}`

/** The documented interface, for the framework's own session and for Heddle's, which a second process opens again. */
describe.each([
  {
    title: 'the session of the framework',
    open: () => {
      const session = new MemorySession()
      return { session, again: () => session }
    },
  },
  {
    title: 'a session of Heddle',
    open: () => {
      // A file behind an address may be long, and is counted as such.
      const options = { agent: 'contract', sessionId: nameOf(), url: heddle.url, budget: 200_000 }
      return { session: new HeddleSession(options), again: () => new HeddleSession(options) }
    },
  },
])('$title', ({ open }) => {
  test('has an id that stays the same', async () => {
    const { session, again } = open()
    expect(await session.getSessionId()).toBe(await session.getSessionId())
    expect(await again().getSessionId()).toBe(await session.getSessionId())
  })

  test('is empty at first, and returns items in the order in which they were added', async () => {
    const { session, again } = open()
    expect(await session.getItems()).toEqual([])
    expect(await session.popItem()).toBeUndefined()
    await session.addItems([])
    expect(await session.getItems()).toEqual([])
    await session.addItems(saysAll('a', 'b'))
    await session.addItems(saysAll('c', 'c'))
    expect(await session.getItems()).toEqual(saysAll('a', 'b', 'c', 'c'))
    expect(await again().getItems()).toEqual(saysAll('a', 'b', 'c', 'c'))
  })

  test('returns the newest items up to a limit, oldest of them first', async () => {
    const { session, again } = open()
    await session.addItems(saysAll('a', 'b', 'c'))
    expect(await session.getItems(2)).toEqual(saysAll('b', 'c'))
    expect(await session.getItems(0)).toEqual([])
    expect(await session.getItems(10)).toEqual(saysAll('a', 'b', 'c'))
    expect(await again().getItems(1)).toEqual(saysAll('c'))
  })

  test('returns items of every kind as they were given', async () => {
    const { session, again } = open()
    await session.addItems(structuredClone(itemsOfEveryKind))
    expect(await session.getItems()).toEqual(itemsOfEveryKind)
    expect(await again().getItems()).toEqual(itemsOfEveryKind)
    expect(await again().getItems(100)).toEqual(itemsOfEveryKind)
  })

  test('shares nothing with its callers', async () => {
    const { session } = open()
    const given = saysAll('a')
    await session.addItems(given)
    Object.assign(given[0] as object, { content: 'changed' })
    const [returned] = await session.getItems()
    Object.assign(returned as object, { content: 'changed' })
    expect(await session.getItems()).toEqual(saysAll('a'))
  })

  test('takes the newest item back each time, and goes on after the others', async () => {
    const { session, again } = open()
    await session.addItems(structuredClone(itemsOfEveryKind))
    for (const item of itemsOfEveryKind.toReversed().slice(0, 11)) expect(await session.popItem()).toEqual(item)
    const left = itemsOfEveryKind.slice(0, -11)
    expect(await again().getItems(3)).toEqual(left.slice(-3))
    expect(await session.getItems()).toEqual(left)
    await session.addItems(saysAll('other'))
    expect(await again().getItems()).toEqual([...left, says('other')])
    expect(await again().popItem()).toEqual(says('other'))
    expect(await again().popItem()).toEqual(left.at(-1))
  })

  test('takes back all items, one by one, until nothing is left', async () => {
    const { session, again } = open()
    await session.addItems(saysAll('a', 'b'))
    expect(await again().popItem()).toEqual(says('b'))
    expect(await again().popItem()).toEqual(says('a'))
    expect(await again().popItem()).toBeUndefined()
    expect(await again().getItems()).toEqual([])
    await again().addItems(saysAll('c'))
    expect(await again().getItems()).toEqual(saysAll('c'))
  })

  test('is empty after a clear, under the same id', async () => {
    const { session, again } = open()
    const id = await session.getSessionId()
    await session.addItems(saysAll('a', 'b'))
    await session.clearSession()
    expect(await session.getItems()).toEqual([])
    expect(await again().getItems(5)).toEqual([])
    await session.addItems(saysAll('c'))
    expect(await again().getItems()).toEqual(saysAll('c'))
    expect(await session.getSessionId()).toBe(id)
  })

  test('applies a transaction once for each operation id', async () => {
    const { session, again } = open()
    await session.addItems(saysAll('a'))
    const appended = { operationId: 'one', transaction: { type: 'append_items' as const, items: saysAll('b', 'c') } }
    await session.applyHistoryTransaction(appended)
    await session.applyHistoryTransaction(appended)
    await again().applyHistoryTransaction(structuredClone(appended))
    expect(await session.getItems()).toEqual(saysAll('a', 'b', 'c'))
    const other = { operationId: 'one', transaction: { type: 'append_items' as const, items: saysAll('d') } }
    await expect(session.applyHistoryTransaction(other)).rejects.toThrow()
    const empty = { operationId: 'two', transaction: { type: 'append_items' as const, items: [] } }
    await session.applyHistoryTransaction(empty)
    await expect(again().applyHistoryTransaction({ ...other, operationId: 'two' })).rejects.toThrow()
    expect(await again().getItems()).toEqual(saysAll('a', 'b', 'c'))
  })

  test('replaces the end of the history only where it is as expected', async () => {
    const { session, again } = open()
    await session.addItems(saysAll('a', 'b', 'c'))
    const replace = (operationId: string, expected: string[], ...texts: string[]) => ({
      operationId,
      transaction: {
        type: 'replace_suffix' as const,
        expectedSuffix: saysAll(...expected),
        replacement: saysAll(...texts),
      },
    })
    await expect(session.applyHistoryTransaction(replace('x', ['b'], 'd'))).rejects.toThrow()
    await expect(session.applyHistoryTransaction(replace('y', ['0', 'a', 'b', 'c']))).rejects.toThrow()
    expect(await session.getItems()).toEqual(saysAll('a', 'b', 'c'))
    await session.applyHistoryTransaction(replace('x', ['b', 'c'], 'd'))
    // Again, after the end that it expected is gone.
    await again().applyHistoryTransaction(replace('x', ['b', 'c'], 'd'))
    await expect(session.applyHistoryTransaction(replace('x', ['d'], 'e'))).rejects.toThrow()
    await session.applyHistoryTransaction(replace('z', [], 'e'))
    expect(await again().getItems()).toEqual(saysAll('a', 'd', 'e'))
    expect(await session.getItems()).toEqual(saysAll('a', 'd', 'e'))
    await session.clearSession()
    await session.applyHistoryTransaction(replace('x', [], 'f'))
    expect(await again().getItems()).toEqual(saysAll('f'))
  })

  test('refuses a transaction that is not valid, and changes nothing', async () => {
    const { session } = open()
    await session.addItems(saysAll('a'))
    const items = saysAll('b')
    const cyclic: Record<string, unknown> = { role: 'user', content: 'b' }
    cyclic['providerData'] = cyclic
    for (const args of [
      { operationId: ' ', transaction: { type: 'append_items', items } },
      { operationId: 'a', transaction: null },
      { operationId: 'a', transaction: { type: 'remove', items } },
      { operationId: 'a', transaction: { type: 'append_items', items: 'b' } },
      { operationId: 'a', transaction: { type: 'replace_suffix', expectedSuffix: items } },
      { operationId: 'a', transaction: { type: 'append_items', items: [cyclic] } },
      { operationId: 'a', transaction: { type: 'append_items', items: [{ role: 'user', content: () => 1 }] } },
    ]) {
      await expect(session.applyHistoryTransaction(args as never)).rejects.toThrow()
    }
    await session.applyHistoryTransaction({ operationId: 'a', transaction: { type: 'append_items', items } })
    expect(await session.getItems()).toEqual(saysAll('a', 'b'))
  })

  test('replaces a call that a person changed before it ran', async () => {
    const { session, again } = open()
    const call = (given: string) => ({
      type: 'function_call' as const,
      callId: 'c',
      name: 'pay',
      status: 'completed' as const,
      arguments: given,
    })
    await session.addItems([says('Pay.'), call('{"sum":10}'), call('{"sum":11}')])
    const mutation = { type: 'replace_function_call' as const, callId: 'c', replacement: call('{"sum":1}') }
    await session.applyHistoryMutations({ mutations: [mutation] })
    expect(await session.getItems()).toEqual([says('Pay.'), call('{"sum":1}')])
    expect(await again().getItems()).toEqual([says('Pay.'), call('{"sum":1}')])
  })
})

test('a compaction of a provider replaces the history, is returned as it was, and is never condensed', async () => {
  const options = { agent: 'contract', sessionId: nameOf(), url: heddle.url, budget: 3_000 }
  const session = new HeddleSession(options)
  await session.addItems(saysAll('a', 'b'))
  const compaction: AgentInputItem = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAA'.repeat(40) }
  await session.replaceHistoryWithCompaction([compaction, says('b')])
  expect(await new HeddleSession(options).getItems()).toEqual([compaction, says('b')])
  for (let turn = 0; turn < 40; turn++) await session.addItems([says(`${turn} ${'word '.repeat(200)}`)])
  const items = await new HeddleSession(options).getItems()
  expect(items[0]).toEqual(compaction)
  expect(items.length).toBeLessThan(40)
})

test('of two processes that replace the history at once the second is refused, and then sees that of the first', async () => {
  const options = { agent: 'contract', sessionId: nameOf(), url: heddle.url }
  const [first, second] = [new HeddleSession(options), new HeddleSession(options)]
  await first.addItems(saysAll('a'))
  await second.getItems()
  await first.replaceHistoryWithCompaction(saysAll('first'))
  await expect(second.replaceHistoryWithCompaction(saysAll('second'))).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await second.getItems()).toEqual(saysAll('first'))
  await second.addItems(saysAll('more'))
  expect(await first.getItems()).toEqual(saysAll('first', 'more'))
})
