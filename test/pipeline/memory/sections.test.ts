import { randomUUID } from 'node:crypto'
import type { Client, NewMessage } from '@heddle/client/interface'
import type { ContextRequest, ContextResult } from '@heddle/contracts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'

const AGENT = 'coder'
const THREAD = 'work'
const SECRET_NAME = 'src/canary-of-the-ledger.ts'

let calls = 0
/** A call and its answer. */
function done(name: string, given: Record<string, string>, content: string, isError = false): NewMessage[] {
  const id = `call-${calls++}`
  return [
    { role: 'assistant', content: `I call ${name}.`, toolCalls: [{ id, name, arguments: given }] },
    { role: 'tool_result', toolCallId: id, toolName: name, content, isError },
  ]
}

const write = (path: string) => done('Write', { file_path: path, content: 'one\ntwo\n' }, 'File created successfully')
const talk = (turns: number): NewMessage[] =>
  Array.from({ length: turns }, (_, turn): NewMessage[] => [
    { role: 'user', content: `question ${turn}: ${'why does it fail '.repeat(20)}` },
    { role: 'assistant', content: `answer ${turn}: ${'it is stable now '.repeat(20)}` },
  ]).flat()

const textsOf = ({ messages }: ContextResult) => messages.map(({ content }) => String(content))
const textOf = (context: ContextResult, tag: string) =>
  textsOf(context).find((text) => text.startsWith(`<${tag} `)) ?? null

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start()
})
afterAll(() => pipeline?.close())

async function begin(project: string, messages: readonly NewMessage[]): Promise<Client> {
  const client = pipeline.clientOf(project)
  await client.agents.put(AGENT, { settings: { rollingWindow: null } })
  await say(client, messages)
  return client
}

async function say(client: Client, messages: readonly NewMessage[]): Promise<void> {
  await client.messages.append({ agent: AGENT, thread: THREAD, messages: [...messages], ack: 'stored' })
}

const build = (client: Client, request: Partial<ContextRequest>, thread = THREAD) =>
  client.contexts.build({ thread, ...request })

describe('the ledger', () => {
  const ledgerIn = async (client: Client, thread = THREAD) =>
    textOf(await build(client, { ledger: true }, thread), 'heddle-ledger')
  const referenceIn = (text: string | null) => /ref="([^"]+)"/.exec(text ?? '')?.[1] ?? ''

  test('of a strategy without compactions is that of its messages, behind them, at each moment', async () => {
    const client = pipeline.clientOf('windows')
    const settings = { rollingWindow: null, strategy: 'sliding-window', slidingWindow: { keepLastN: 4 } }
    await client.agents.put(AGENT, { settings: { ...settings, sections: { ledger: { enabled: true } } } })
    await say(client, [...write('src/a.ts'), ...talk(10)])
    const first = await build(client, {})
    expect(textOf(first, 'heddle-ledger')).toMatch(/^written src\/a\.ts, 2 lines msg-/m)
    expect(textsOf(first).some((text) => text.includes('I call Write'))).toBe(false)
    expect(textsOf(first).findIndex((text) => text.startsWith('<heddle-ledger'))).toBe(4)
    await say(client, [...write('src/b.ts'), ...talk(10)])
    const second = await build(client, {})
    expect(textOf(second, 'heddle-ledger')).toMatch(/^written src\/b\.ts, 2 lines msg-.*\nwritten src\/a\.ts/m)
  })

  test('changes with compactions alone, and each of its lines can be recalled, also of an earlier one', async () => {
    const client = await begin('ledgers', [
      ...write('src/a.ts'),
      ...done('Bash', { command: 'npm test' }, 'Error: 2 tests failed', true),
      ...talk(30),
    ])
    expect((await build(client, { ledger: true })).receipt.notes).toContain(
      'the thread has no ledger before its first compaction',
    )
    await client.contexts.compress({ thread: THREAD })
    const first = await ledgerIn(client)
    expect(first).toMatch(/^1 written src\/a\.ts, 2 lines, failed npm test msg-/m)
    expect(first).toMatch(/^2 failed npm test, .*2 tests failed msg-/m)
    await say(client, write('src/b.ts'))
    expect(await ledgerIn(client)).toBe(first)
    await say(client, [...done('Bash', { command: 'npm test' }, 'all passed'), ...talk(30)])
    await client.contexts.compress({ thread: THREAD })
    const second = await ledgerIn(client)
    expect(second).toMatch(/^3 written src\/b\.ts, 2 lines, passed npm test msg-/m)
    expect(referenceIn(second)).not.toBe(referenceIn(first))
    const recalled = async (text: string | null, lines: string) =>
      (await client.recall({ ref: referenceIn(text), thread: THREAD, lines })).content
    expect(await recalled(second, '3')).toMatch(/^file written src\/b\.ts, 2 lines, passed npm test \(msg-/)
    expect(await recalled(second, '2')).toMatch(/^command passed npm test, all passed \(msg-.*, msg-/)
    expect(await recalled(first, '2')).toMatch(/^command failed npm test/)
    await expect(client.recall({ ref: `${referenceIn(first)}x`, thread: THREAD })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
  })

  test('is asked for by a setting, for which the loss report counts it, and a request overrides it', async () => {
    const client = await begin('settings', [...write('src/a.ts'), ...talk(30)])
    await client.contexts.compress({ thread: THREAD })
    const without = await build(client, {})
    expect(textOf(without, 'heddle-ledger')).toBeNull()
    const compaction = (await client.threads.get(THREAD)).states.findLast(({ summary }) => summary !== null)?.id ?? ''
    const before = await client.summaries.loss({ thread: THREAD, compaction })
    await client.agents.put(AGENT, { settings: { rollingWindow: null, sections: { ledger: { enabled: true } } } })
    expect(textOf(await build(client, {}), 'heddle-ledger')).toContain('written src/a.ts')
    expect(textOf(await build(client, { ledger: false }), 'heddle-ledger')).toBeNull()
    expect(textOf(await build(client, { ledger: { tokensMax: 10 } }), 'heddle-ledger')).toBeNull()
    const after = await client.summaries.loss({ thread: THREAD, compaction })
    expect(after.totals.lost).toBeLessThanOrEqual(before.totals.lost)
  })

  test('goes with forks and exports, and not with an erased message', async () => {
    const client = await begin('moves', [...write(SECRET_NAME), ...write('src/a.ts'), ...talk(30)])
    await client.contexts.compress({ thread: THREAD })
    const ledger = await ledgerIn(client)
    expect(ledger).toContain(SECRET_NAME)
    await client.threads.fork(THREAD, { name: 'fork' })
    expect(await ledgerIn(client, 'fork')).toBe(ledger)
    await client.threads.delete('fork')
    const file: string[] = []
    for await (const line of client.threads.export(THREAD)) file.push(line)
    const copy = pipeline.clientOf('copies')
    await copy.threads.import(async function* () {
      yield* file
    })
    expect(await ledgerIn(copy)).toBe(ledger)
    const { items } = await client.messages.list({ thread: THREAD, limit: 2 })
    for (const { id } of items) await client.messages.erase({ thread: THREAD, messageId: id })
    await client.contexts.compress({ thread: THREAD })
    const left = await ledgerIn(client)
    expect(left).toContain('src/a.ts')
    expect(left).not.toContain(SECRET_NAME)
  })
})

describe('facts', () => {
  const speed = { subject: 'response time', predicate: 'is', single: true } as const
  const factsIn = async (client: Client, request: Partial<ContextRequest> = {}) =>
    textsOf(await build(client, { facts: true, ...request }))
      .filter((text) => text.startsWith('<facts '))
      .join('\n')

  test.each([
    ['built anew', {}],
    ['prepared', { prebuild: true }],
  ])('that are put, corrected and retracted are in the next context, %s', async (title, request) => {
    const client = await begin(`facts ${title}`, talk(2))
    const [message] = (await client.messages.list({ thread: THREAD })).items
    const [wrong, right] = [randomUUID(), randomUUID()]
    expect(await factsIn(client, request)).toBe('')
    await client.facts.put(AGENT, wrong, {
      ...speed,
      object: '120 ms',
      thread: THREAD,
      sources: [message?.id ?? ''],
    })
    const shown = await factsIn(client, request)
    expect(shown).toMatch(/^1 response time is 120 ms \(since \d{4}-\d\d-\d\d; msg-/m)
    const [reference = ''] = /msg-\w+/.exec(shown) ?? []
    expect((await client.recall({ ref: reference, thread: THREAD })).messageId).toBe(message?.id)
    await client.facts.put(AGENT, right, { ...speed, object: '80 ms', thread: THREAD, corrects: wrong })
    expect(await factsIn(client, request)).toMatch(/^1 response time is 80 ms/m)
    await client.facts.retract(AGENT, right)
    expect(await factsIn(client, request)).toMatch(/^1 response time is 120 ms/m)
    await client.facts.put(AGENT, randomUUID(), { ...speed, subject: 'colour of the team', object: 'blue' })
    expect(await factsIn(client, request)).toContain('of the agent')
  })

  test('move into the prefix with a compaction, and are gone with their source at once', async () => {
    const client = await begin('compacted', talk(30))
    const [message] = (await client.messages.list({ thread: THREAD })).items
    const put = (object: string, validFrom: string) =>
      client.facts.put(AGENT, randomUUID(), {
        ...{ ...speed, object, validFrom, thread: THREAD },
        sources: [message?.id ?? ''],
      })
    await put('120 ms', '2026-03-01T00:00:00Z')
    await client.contexts.compress({ thread: THREAD })
    const before = await build(client, { facts: true })
    expect(before.receipt.sections.map(({ name }) => name)).not.toContain('fact-changes')
    await put('80 ms', '2026-03-05T00:00:00Z')
    const after = await build(client, { facts: true })
    expect(textsOf(after).slice(0, before.messages.length)).toEqual(textsOf(before))
    expect(textsOf(after).at(-1)).toContain('2 response time is 80 ms')
    await say(client, talk(30))
    await client.contexts.compress({ thread: THREAD })
    expect(await factsIn(client)).not.toContain('120 ms')
    await client.messages.erase({ thread: THREAD, messageId: message?.id ?? '' })
    expect(await factsIn(client)).toBe('')
  })

  test('of another thread of the agent are not shown', async () => {
    const client = await begin('scopes', talk(2))
    await client.messages.append({ agent: AGENT, thread: 'other', messages: talk(1), ack: 'stored' })
    await client.facts.put(AGENT, randomUUID(), { ...speed, object: '120 ms', thread: 'other' })
    expect(await factsIn(client)).toBe('')
    expect(textOf(await build(client, { facts: true }, 'other'), 'facts')).toContain('120 ms')
  })

  test('of messages that a fork shares are in its contexts, those of later ones are not', async () => {
    const client = await begin('forked', talk(3))
    const { items } = await client.messages.list({ thread: THREAD, order: 'asc' })
    const put = (object: string, source: number, thread = THREAD) =>
      client.facts.put(AGENT, randomUUID(), {
        ...{ ...speed, object, thread },
        ...(source < 0 ? {} : { sources: [items[source]?.id ?? ''] }),
      })
    await put('120 ms', 0)
    await client.threads.fork(THREAD, { name: 'branch', at: items[2]?.id ?? '' })
    const inFork = async () => {
      const texts = textsOf(await build(client, { facts: true }, 'branch'))
      return texts.filter((text) => text.startsWith('<facts ')).join('\n')
    }
    expect(await inFork()).toContain('120 ms')
    await put('80 ms', 4)
    expect(await factsIn(client)).toContain('80 ms')
    expect(await inFork()).toContain('120 ms')
    expect(await inFork()).not.toContain('80 ms')
    await put('95 ms', -1, 'branch')
    expect(await inFork()).toContain('95 ms')
    expect(await factsIn(client)).not.toContain('95 ms')
    await client.messages.erase({ thread: THREAD, messageId: items[0]?.id ?? '' })
    expect(await inFork()).not.toContain('120 ms')
  })
})
