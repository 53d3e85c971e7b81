import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'

let pipeline: Pipeline

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start()
})
afterAll(() => pipeline?.close())

const RULE = 'The standing rules of this repository: build before you test, and never push to the main branch.'
const SECRET = `ghp_${'a1B2c3'.repeat(6)}`
const own = (turn: number) =>
  `question ${'abcdefghijklmnopqrstuvwxyz'[turn]} about part ${'zyxwvutsrqponmlkjihgfedcba'[turn]}`

test('a store of known junk has the known rates, in one page or in several, and the audit shows no contents', async () => {
  const { client } = pipeline
  const reads = (turn: number) => [
    {
      role: 'assistant' as const,
      content: '',
      toolCalls: [{ id: `r${turn}`, name: 'Read', arguments: { file_path: '/a.ts' } }],
    },
    { role: 'tool_result' as const, toolCallId: `r${turn}`, content: 'export const a = 1' },
  ]
  const messages = [
    ...Array.from({ length: 20 }, (_, turn) => ({ role: 'user' as const, content: own(turn) })),
    ...Array.from({ length: 5 }, () => ({ role: 'user' as const, content: RULE })),
    ...Array.from({ length: 5 }, (_, turn) => ({
      role: 'user' as const,
      content: `<system-reminder>todo list ${turn}</system-reminder>`,
    })),
    { role: 'user' as const, content: `the token is ${SECRET}` },
    ...[0, 1, 2, 3].flatMap(reads),
    {
      role: 'assistant' as const,
      content: '',
      toolCalls: [{ id: 'e', name: 'Write', arguments: { file_path: '/a.ts', content: 'x' } }],
    },
    { role: 'tool_result' as const, toolCallId: 'e', content: 'File written successfully at: /a.ts' },
  ]
  await client.messages.append({ agent: 'keeper', thread: 'junk', messages })
  const audit = await client.agents.auditMemory('keeper')
  const counts = Object.fromEntries(audit.findings.map((one) => [one.kind, one.messages]))
  expect(audit).toMatchObject({ agent: 'keeper', messages: 41, threads: 1, nextCursor: null })
  expect(counts).toEqual({ duplicate: 4, 'near-duplicate': 0, loop: 2, stale: 4, transient: 5, secret: 1 })
  expect(audit.findings.find(({ kind }) => kind === 'transient')?.share).toBe(0.122)
  expect(audit.findings.every(({ messages: count, references }) => references.length === Math.min(count, 10))).toBe(
    true,
  )
  expect(JSON.stringify(audit)).not.toContain(SECRET)
  const [secret = ''] = audit.findings.find(({ kind }) => kind === 'secret')?.references ?? []
  expect((await client.recall({ ref: secret })).content).toContain(SECRET)

  let [read, cursor]: [number, string | null] = [0, null]
  do {
    const page = await client.agents.auditMemory('keeper', { limit: 15, ...(cursor !== null && { cursor }) })
    read += page.messages
    cursor = page.nextCursor
  } while (cursor !== null)
  expect(read).toBe(41)
  await expect(client.agents.auditMemory('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(client.agents.auditMemory('keeper', { limit: 2_001 })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
  })
})

test('archived contents count as never read until somebody recalls them', async () => {
  const { client } = pipeline
  await client.agents.put('reader', { settings: { budget: 6_000, rollingWindow: null } })
  const messages = Array.from({ length: 40 }, (_, turn) => {
    const call = { id: `call-${turn}`, name: 'Read', arguments: { file_path: `/repo/src/part${turn}.ts` } }
    const content = `export function part${turn}() {\n  return ${turn}\n}\n`.repeat(12)
    return [
      { role: 'assistant' as const, content: '', toolCalls: [call] },
      { role: 'tool_result' as const, toolCallId: call.id, content },
    ]
  }).flat()
  await client.messages.append({ agent: 'reader', thread: 'long', messages })
  await client.threads.waitUntilSettled('long')
  const before = (await client.agents.auditMemory('reader')).archived
  expect(before.messages).toBeGreaterThan(10)
  expect(before).toMatchObject({ neverRead: before.messages, share: 1 })
})

test('instructions of people that hold from then on are listed with their words, and pinned by their references', async () => {
  const { client } = pipeline
  const messages = [
    { role: 'user' as const, content: 'Fix the login. From now on always answer in French.' },
    { role: 'assistant' as const, content: 'From now on I always answer in French.' },
    { role: 'user' as const, content: 'What does the log say?' },
    { role: 'user' as const, content: 'Never push to the main branch.' },
  ]
  await client.messages.append({ agent: 'polyglot', thread: 'rules', messages })
  await client.threads.waitUntilSettled('rules')
  const { items } = await client.agents.instructions('polyglot')
  expect(items.map(({ thread, text, pinned }) => [thread, text, pinned])).toEqual([
    ['rules', 'Never push to the main branch.', false],
    ['rules', 'From now on always answer in French.', false],
  ])
  await client.pins.set({ thread: 'rules', messageId: items[0]?.reference ?? '' })
  expect((await client.agents.instructions('polyglot')).items.map(({ pinned }) => pinned)).toEqual([true, false])
  await client.messages.erase({ thread: 'rules', messageId: items[1]?.reference ?? '' })
  expect((await client.agents.instructions('polyglot')).items).toHaveLength(1)
  await expect(client.agents.instructions('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('an instruction that is taken back is listed with the moment and the message that ended it', async () => {
  const { client } = pipeline
  const say = async (thread: string, content: string, metadata?: { readonly name: string }) => {
    await client.messages.append({
      agent: 'minded',
      thread,
      messages: [{ role: 'user', content, ...(metadata && { metadata }) }],
    })
    await client.threads.waitUntilSettled(thread)
  }
  await say('first', 'Never push to main. Always answer in French.')
  await say('first', 'In this conversation, always use tabs.')
  await say('ann', 'Never delete the logs.', { name: 'Ann' })
  await say('second', 'You may push to main again.')
  await say('second', 'You may delete the logs again.')
  await say('second', 'Never use tabs.')
  const list = async () => (await client.agents.instructions('minded')).items
  const shown = (items: Awaited<ReturnType<typeof list>>) =>
    items.map(({ thread, text, scope, user, ended }) => [thread, text, scope, user, ended?.text ?? null])
  expect(shown(await list())).toEqual([
    ['second', 'Never use tabs.', 'agent', null, null],
    ['ann', 'Never delete the logs.', 'user', 'Ann', null],
    ['first', 'In this conversation, always use tabs.', 'thread', null, null],
    ['first', 'Always answer in French.', 'agent', null, null],
  ])
  await say('ann', 'From now on reply in English.')
  const items = await list()
  expect(shown(items).at(-1)).toEqual([
    'first',
    'Never push to main.\nAlways answer in French.',
    'agent',
    null,
    'From now on reply in English.',
  ])
  const ended = items.at(-1)?.ended
  expect(ended).toMatchObject({
    thread: 'ann',
    reference: items.find(({ text }) => text.includes('English'))?.reference,
  })
  // Without the message that ended it, it holds again.
  await client.messages.erase({ thread: 'ann', messageId: ended?.reference ?? '' })
  expect((await list()).at(-1)).toMatchObject({ text: 'Always answer in French.', ended: null })
})
