import { createClient, type RemoteClient } from '@heddle/client/http'
import { stageNames } from '@heddle/contracts'
import { projectIdOf, threadIdOf } from '@heddle/core'
import { insertDeadLetter, markThreadFailed } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { beforeAll, describe, expect, test } from 'vitest'
import { notOverHttp } from '../../tooling/pages/operations.js'
import type { Pipeline } from '../support.js'
import { type Served, servePipeline } from './http-support.js'
import { transports } from './transports.js'

let pipeline: Pipeline
let http: Served

servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

const user = (content: string) => ({ role: 'user' as const, content })
const linesOf = async (lines: AsyncIterable<string>) => {
  const read: string[] = []
  for await (const line of lines) read.push(line)
  return read
}

/** `messages.append` and so on: the functions of a client, by their paths. */
function methodsOf(value: object, path = ''): string[] {
  return Object.entries(value).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`
    return typeof field === 'function' ? [at] : methodsOf(field as object, at)
  })
}

test('the client over HTTP has every method of the client over the queue except those that the reference names', () => {
  const overQueue = methodsOf(pipeline.client).sort()
  const overHttp = methodsOf(createClient({ url: http.url })).sort()
  expect(overHttp.filter((method) => !overQueue.includes(method))).toEqual([])
  expect(overQueue.filter((method) => !overHttp.includes(method))).toEqual(Object.keys(notOverHttp).sort())
})

describe.each(transports)('a client over $transport', ({ transport, open }) => {
  let client: RemoteClient
  const suite = 'operations'
  const own = `${suite}-${transport === 'HTTP' ? 'http' : 'queue'}`
  beforeAll(async () => {
    client = await open({ pipeline, http }, suite)
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
    await pipeline.clientOf(own).threads.waitUntilSettled('long')
  })

  test('plans a compaction, undoes one, and redoes it', async () => {
    const plan = await client.contexts.planPruning({ thread: 'long', agent: 'reader', budget: 4_000 })
    expect(plan).toMatchObject({ thread: 'long', agent: 'reader', tokensFreed: plan.tokensBefore - plan.tokensAfter })
    expect(plan.messages).toContainEqual(expect.objectContaining({ reference: expect.stringMatching(/^msg-/) }))
    const undone = await client.contexts.uncompact({ thread: 'long', all: true })
    expect(undone).toMatchObject({ thread: 'long', action: 'undone' })
    expect(undone.messages).toBeGreaterThan(0)
    expect(await client.contexts.uncompact({ thread: 'long', all: true, redo: true })).toMatchObject({
      action: 'redone',
    })
    await expect(client.contexts.planPruning({ thread: 'nowhere' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const both = client.contexts.uncompact({ thread: 'long', all: true, messageId: 'msg-00000000' })
    await expect(both).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'messageId' })
  })

  test('forks a thread, says where it was forked, and compares both', async () => {
    const { items } = await client.messages.list({ thread: 'long' })
    const [first] = items
    if (first === undefined) throw new Error('the thread is empty')
    const name = `fork by ${first.seq} ${Math.random()}`
    const forked = await client.threads.fork('long', { at: first.reference, name })
    expect(forked).toMatchObject({ thread: name, isNew: true, forkedFrom: { thread: 'long', seq: first.seq } })
    expect(await client.threads.fork('long', { at: first.id, name })).toMatchObject({ isNew: false })
    expect(await client.threads.get(name)).toMatchObject({
      messages: 1,
      forkedFrom: { thread: 'long', seq: first.seq },
    })
    expect(await client.threads.compare(name, 'long')).toMatchObject({
      common: { messages: 1, reference: first.reference },
      after: { thread: 0 },
    })
    await expect(client.threads.fork('long', { at: 'msg-00000000' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.threads.fork('long', { name: 'long' })).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(client.threads.delete('long')).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('records an event of Claude Code, and answers as its hook does', async () => {
    const call = { tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_use_id: 'toolu_1' }
    const stdout = Array.from({ length: 400 }, (_, line) => `ok ${line}`).join('\n')
    const tool_response = { stdout, stderr: '', interrupted: false, isImage: false }
    const event = { hook_event_name: 'PostToolUse' as const, session_id: 'hooked', ...call, tool_response }
    const answer = await client.hooks.claudeCode(event, { agent: 'hooker', outputTokensMax: 300, stubTokensMax: 60 })
    expect(answer).toMatchObject({
      hookSpecificOutput: { updatedToolOutput: { stdout: expect.stringContaining('[recall:msg-') } },
    })
    expect(await client.threads.get('hooked')).toMatchObject({ agent: 'hooker', messages: 2 })
    const unknown = { hook_event_name: 'Nothing', session_id: 'hooked' } as never
    await expect(client.hooks.claudeCode(unknown)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  })

  test('records events of Codex and OpenCode, and answers as their hooks do', async () => {
    const output = Array.from({ length: 400 }, (_, line) => `ok ${line}`).join('\n')
    const options = { outputTokensMax: 300, stubTokensMax: 60 }
    const called = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'call_1', tool_response: output }
    const event = { hook_event_name: 'PostToolUse' as const, session_id: 'codexed', ...called }
    expect(await client.hooks.codex(event, options)).toEqual({
      decision: 'block',
      reason: expect.stringContaining('[recall:msg-'),
    })
    const call = { type: 'called' as const, session: 'opened', id: 'call_1', tool: 'bash', input: {}, output }
    expect(await client.hooks.openCode(call, options)).toEqual({
      output: expect.stringContaining('[recall:msg-'),
      reference: expect.stringMatching(/^msg-/),
    })
    const agents = ['codexed', 'opened'].map(async (thread) => (await client.threads.get(thread)).agent)
    expect(await Promise.all(agents)).toEqual(['codex', 'opencode'])
    await expect(client.hooks.openCode({ ...call, type: 'other' } as never)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
  })

  test('shows what the results of each tool cost, and the largest messages page by page', async () => {
    const thread = 'tools'
    const called = (name: string, words: number, index: number) => {
      const id = `${name}-${index}`
      return [
        { role: 'assistant' as const, content: '', toolCalls: [{ id, name, arguments: {} }] },
        { role: 'tool_result' as const, toolCallId: id, toolName: name, content: 'word '.repeat(words) },
      ]
    }
    const failed = { role: 'tool_result' as const, toolCallId: 'x', content: 'no', isError: true }
    const messages = [...called('Bash', 300, 1), ...called('Read', 100, 1), ...called('Read', 400, 2)]
    const call = { role: 'assistant' as const, content: '', toolCalls: [{ id: 'x', name: 'Ask', arguments: {} }] }
    await client.messages.append({ agent: 'reader', thread, messages: [...messages, call, failed] })
    await pipeline.clientOf(own).threads.waitUntilSettled(thread)
    const { items, nextCursor } = await client.messages.toolUse(thread)
    expect(items.map(({ tool, results, failed }) => [tool, results, failed])).toEqual([
      ['Read', 2, 0],
      ['Bash', 1, 0],
      [null, 1, 1],
    ])
    expect(nextCursor).toBeNull()
    const history = await client.messages.list({ thread })
    const tokensOf = (tool: string) =>
      history.items.filter(({ toolName }) => toolName === tool).map(({ tokens }) => tokens)
    const [first = 0, second = 0] = tokensOf('Read')
    expect(items[0]).toMatchObject({ tokens: first + second, largestTokens: second, condensed: 0, condensedTokens: 0 })
    const page = await client.messages.largest({ thread, tool: 'Read', limit: 1 })
    expect(page.items).toMatchObject([{ tokens: second, toolName: 'Read', excerpt: 'word '.repeat(40) }])
    const next = await client.messages.largest({ thread, tool: 'Read', limit: 1, cursor: page.nextCursor ?? '' })
    expect(next.items).toMatchObject([{ tokens: first, seq: 4 }])
    expect(next.nextCursor).toBeNull()
    const all = (await client.messages.largest({ thread })).items.map(({ tokens }) => tokens)
    expect(all).toEqual(all.toSorted((one, other) => other - one))
    expect(all).toHaveLength(history.items.length)
    const condensed = (await client.messages.toolUse('long')).items[0]
    expect(condensed?.condensed).toBeGreaterThan(0)
    expect(condensed?.condensedTokens).toBeLessThanOrEqual(condensed?.tokens ?? 0)
    await expect(client.messages.toolUse('nowhere')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(items[0]?.shown).toBeNull()
    const { id, receipt } = await client.contexts.build({ thread: 'long', budget: 6_000 })
    const inContext = receipt.entries.filter(({ role, mode }) => role === 'tool_result' && mode !== 'covered')
    const shown = (await client.messages.toolUse('long', { context: id })).items.map((row) => row.shown)
    expect(shown.reduce((sum, each) => sum + (each?.results ?? 0), 0)).toBe(inContext.length)
    expect(inContext.length).toBeGreaterThan(0)
    expect(shown.reduce((sum, each) => sum + (each?.tokens ?? 0), 0)).toBe(
      inContext.reduce((sum, { tokens }) => sum + tokens, 0),
    )
    expect((await client.messages.toolUse(thread, { context: id })).items[0]?.shown).toEqual({ results: 0, tokens: 0 })
    const nowhere = client.messages.toolUse(thread, { context: '00000000-0000-7000-8000-000000000000' })
    await expect(nowhere).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.messages.largest({ thread: 'nowhere' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('compacts a thread on demand, once', async () => {
    const thread = 'on demand'
    const messages = Array.from({ length: 60 }, (_, index) => user(`${index} ${'a fact of the day. '.repeat(20)}`))
    await client.messages.append({ agent: 'reader', thread, messages })
    await pipeline.clientOf(own).threads.waitUntilSettled(thread)
    const made = await client.contexts.compress({ thread, agent: 'reader' })
    expect(made).toMatchObject({ thread, agent: 'reader', compacted: true, summary: { text: expect.any(String) } })
    expect(made.summarized).toBeGreaterThan(0)
    expect(made.summary?.coveredCount).toBeGreaterThanOrEqual(made.summarized)
    const again = await client.contexts.compress({ thread })
    expect(again).toMatchObject({ compacted: false, summary: made.summary })
    const { key } = await pipeline.clientOf(own).keys.create({ name: 'producer', role: 'produce' })
    const producer = createClient({ url: http.url, key })
    expect(await producer.contexts.compress({ thread })).toMatchObject({ compacted: false, summary: null })
    await expect(client.contexts.compress({ thread, deadlineMs: Number.NaN })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
    await expect(client.contexts.compress({ thread: 'nowhere' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('shows which details a compaction kept and lost, and that recalling the lost ones finds them', async () => {
    const thread = 'lost details'
    const facts = Array.from({ length: 60 }, (_, index) =>
      user(
        `${index} You must keep \`partNumber${index}x\` in /repo/src/part${index}.ts. ${'a fact of the day. '.repeat(18)}`,
      ),
    )
    await client.messages.append({ agent: 'reader', thread, messages: facts })
    await pipeline.clientOf(own).threads.waitUntilSettled(thread)
    await client.contexts.compress({ thread, agent: 'reader' })
    const state = (await client.threads.get(thread)).states.findLast(({ summary }) => summary !== null)
    const report = await client.summaries.loss({ thread, compaction: state?.id ?? '' })
    expect(report).toMatchObject({ id: state?.id, summarizer: 'extractive', isComplete: true })
    expect(report.messagesRead).toBe(state?.coveredCount)
    const { lost, total, ...kept } = report.kinds.find(({ kind }) => kind === 'path') ?? { lost: 0, total: 0 }
    expect(total).toBe(report.messagesRead)
    expect([lost > 0, 'summary' in kept && kept.summary > 0]).toEqual([true, true])
    expect(report.totals.lost).toBe(report.kinds.reduce((sum, counts) => sum + counts.lost, 0))
    const paths = await client.summaries.loss({ thread, compaction: state?.id ?? '', kind: 'path', limit: 3 })
    expect(paths.lost).toHaveLength(3)
    for (const { kind, text, references } of paths.lost) {
      expect(kind).toBe('path')
      expect(state?.summary).not.toContain(text.slice('/repo/'.length))
      expect((await client.recall({ ref: references[0] ?? '', thread })).content).toContain(text)
    }
    const unknown = client.summaries.loss({ thread, compaction: '018f2f3e-0000-7000-8000-000000000000' })
    await expect(unknown).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const bad = client.summaries.loss({ thread, compaction: state?.id ?? '', kind: 'colour' as never })
    await expect(bad).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'kind' })
  })

  test('repairs a summary by the settings of its agent, and recalls the ledger that it names line by line', async () => {
    const thread = 'repaired'
    const settings = {
      budget: 6_000,
      rollingWindow: null,
      maxSummaryTokens: 300,
      lossGate: { path: 'repair' as const },
    }
    await client.agents.put('keeper', { settings })
    const facts = Array.from({ length: 60 }, (_, index) =>
      user(`${index} See /repo/src/part${index}.ts. ${'a fact of the day. '.repeat(18)}`),
    )
    await client.messages.append({ agent: 'keeper', thread, messages: facts })
    await pipeline.clientOf(own).threads.waitUntilSettled(thread)
    await client.contexts.compress({ thread, agent: 'keeper' })
    const state = (await client.threads.get(thread)).states.findLast(({ summary }) => summary !== null)
    expect(state?.summaryTokens).toBeLessThanOrEqual(300)
    const reference = /recall:(msg-[0-9a-z]+:ledger)/.exec(state?.summary ?? '')?.[1] ?? ''
    const report = await client.summaries.loss({ thread, compaction: state?.id ?? '' })
    const { total, lost, ledger } = report.kinds.find(({ kind }) => kind === 'path') ?? { total: 0, lost: 1, ledger: 0 }
    expect([total, lost, ledger > 0]).toEqual([state?.coveredCount, 0, true])
    const found = await client.recall({ ref: `[recall:${reference}]`, thread, search: 'part30.ts' })
    expect(found).toMatchObject({ contentType: 'ledger', matchCount: 1 })
    const line = (await client.recall({ ref: reference, thread, lines: '1-1' })).content
    expect(line).toMatch(/^path: \/repo\/src\/part\d+\.ts \(msg-[0-9a-z]+\)$/)
    const whole = await client.recall({ ref: reference, thread, maxTokens: 100_000 })
    for (let index = 0; index < total; index++) expect(whole.content).toContain(`/repo/src/part${index}.ts`)
    expect(whole.content).not.toContain('/repo/src/part59.ts')
    const bad = client.agents.put('keeper', { settings: { lossGate: { path: 'mend' as never } } })
    await expect(bad).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'settings.lossGate.path' })
  })

  test('shows the settings in force, and who sets each', async () => {
    const { items } = await client.agents.settings('reader')
    const named = new Map(items.map((setting) => [setting.name, setting]))
    expect(named.get('budget')).toEqual({ name: 'budget', value: 6_000, from: 'agent', default: null })
    expect(named.get('strategy')).toMatchObject({ value: 'sandwich', from: null })
    expect(items.length).toBeGreaterThan(60)
    expect(await client.agents.instructions('reader')).toEqual({ items: [], nextCursor: null })
    expect(await client.agents.auditMemory('reader', { limit: 10 })).toMatchObject({ agent: 'reader', messages: 10 })
    expect(await client.agents.calibration('reader')).toEqual({ items: [], nextCursor: null })
    await expect(client.agents.calibration('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.agents.settings('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('creates a memory block, edits it, lists its versions, undoes a change, and removes it', async () => {
    const key = { scope: 'agent', owner: 'reader', label: 'human' } as const
    expect(await client.blocks.put(key, { value: 'tea', ifVersion: 0 })).toMatchObject({ ...key, version: 1 })
    await client.blocks.insert(key, { text: 'one\ntwo', afterLine: 0 }, { idempotencyKey: 'insert' })
    const again = await client.blocks.insert(key, { text: 'one\ntwo', afterLine: 0 }, { idempotencyKey: 'insert' })
    expect(again).toMatchObject({ version: 2 })
    expect(await client.blocks.replace(key, { oldText: 'two', newText: '' })).toMatchObject({ value: 'one\n\ntea' })
    const late = client.blocks.rethink(key, { value: 'mine', ifVersion: 1 })
    await expect(late).rejects.toMatchObject({
      code: 'CONFLICT',
      field: 'ifVersion',
      facts: { current: { version: 3, value: 'one\n\ntea' } },
    })
    await client.blocks.rethink(key, { value: 'new', ifVersion: 3 })
    expect(await client.blocks.undo(key, { toVersion: 1 })).toMatchObject({ version: 5, value: 'tea' })
    expect(await client.blocks.get(key, { version: 4 })).toMatchObject({ value: 'new', change: 'rethink' })
    const { items, nextCursor } = await client.blocks.history(key, { limit: 2 })
    expect(items.map(({ version }) => version)).toEqual([5, 4])
    const rest = await client.blocks.history(key, { cursor: nextCursor ?? '' })
    expect([rest.items.map(({ version }) => version), rest.nextCursor]).toEqual([[3, 2, 1], null])
    expect((await client.blocks.list({ thread: 'long' })).items).toMatchObject([{ label: 'human', version: 5 }])
    expect(await client.blocks.remove(key, { ifVersion: 5 })).toMatchObject({ version: 6, change: 'remove' })
    expect((await client.blocks.list({ agent: 'reader' })).items).toEqual([])
    await expect(client.blocks.list({ agent: 'nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.blocks.put({ ...key, label: '<x' }, {})).rejects.toMatchObject({ field: 'label' })
  })

  test('shares a memory block with another agent, which edits it under the name of its owner', async () => {
    const key = { scope: 'agent', owner: 'reader', label: 'plan' } as const
    const seen = { scope: 'agent', owner: 'team/writer', label: 'reader/plan' } as const
    await client.agents.put('team/writer', {})
    await client.blocks.put(key, { value: 'one' })
    const grant = await client.blocks.grant(key, { to: 'team/writer', mode: 'write' })
    expect(grant).toMatchObject({ owner: 'reader', label: 'plan', to: 'team/writer', mode: 'write' })
    expect((await client.blocks.grants(key)).items).toEqual([grant])
    for (const agent of ['reader', 'team/writer'])
      expect(await client.blocks.grantsOf(agent)).toEqual({ items: [grant], nextCursor: null })
    await expect(client.blocks.grantsOf('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const made = await client.blocks.insert(seen, { text: 'two', ifVersion: 1 })
    expect(made).toMatchObject({
      ...seen,
      version: 2,
      changedBy: 'team/writer',
      shared: { by: 'reader', mode: 'write' },
    })
    expect((await client.blocks.list({ agent: 'team/writer' })).items).toEqual([made])
    expect(await client.blocks.get(key)).toMatchObject({ ...key, value: 'one\ntwo', changedBy: 'team/writer' })
    await client.blocks.grant(key, { to: 'team/writer', mode: 'read' })
    await expect(client.blocks.insert(seen, { text: 'x' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await client.blocks.revoke(key, { to: 'team/writer' })).toMatchObject({ mode: null })
    expect((await client.blocks.grantsOf('reader')).items).toEqual([])
    await expect(client.blocks.get(seen)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await client.blocks.remove(key)
  })

  test('lists the ledger of a thread, each line of which is recalled by its number', async () => {
    const first = await client.threads.ledger('long', { kind: 'path', limit: 2 })
    expect(first).toMatchObject({ thread: 'long', messagesRead: 80, isComplete: true })
    expect(first.items).toMatchObject([
      { kind: 'path', state: 'read', text: expect.stringContaining('part0.ts') },
      { kind: 'path', state: 'read', text: expect.stringContaining('part1.ts') },
    ])
    const next = await client.threads.ledger('long', { kind: 'path', limit: 2, cursor: first.nextCursor ?? '' })
    const [line] = next.items
    expect(line?.text).toContain('part2.ts')
    const { content } = await client.recall({ ref: first.ref ?? '', lines: String(line?.line) })
    expect(content).toContain(`path (read): ${line?.text}`)
    await expect(client.threads.ledger('nowhere')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('pins a stored message, lists the pin, and takes it back', async () => {
    const pinned = await client.pins.set({ thread: 'long', agent: 'reader', fromSeq: 1, toSeq: 2 })
    expect(pinned).toMatchObject({ thread: 'long', agent: 'reader', action: 'pinned', messages: 2 })
    const { items, nextCursor } = await client.pins.list({ thread: 'long' })
    expect([items.map(({ seq }) => seq), nextCursor]).toEqual([[1, 2], null])
    const message = items[0]?.reference ?? ''
    expect(await client.pins.remove({ thread: 'long', messageId: message })).toMatchObject({
      action: 'unpinned',
      messages: 1,
    })
    expect(await client.pins.remove({ thread: 'long', fromSeq: 1, toSeq: 2 })).toMatchObject({ messages: 1 })
    const over = client.pins.set({ thread: 'long', messageId: message, until: '2020-01-01T00:00:00Z' })
    await expect(over).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'until' })
    await expect(client.pins.list({ thread: 'nowhere' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('erases a message by its reference, and a range, and says what it does not find', async () => {
    const thread = 'with secrets'
    await client.messages.append({
      agent: 'reader',
      thread,
      messages: ['one', 'two', 'three'].map((content) => ({ role: 'user', content })),
    })
    const before = await client.messages.list({ thread })
    const message = before.items[0]?.reference ?? ''
    const erased = { kind: 'messages', name: thread, finished: true }
    expect(await client.messages.erase({ thread, messageId: message })).toMatchObject({
      ...erased,
      removed: { messages: 1 },
    })
    expect(await client.messages.erase({ thread, fromSeq: 1, toSeq: 2 })).toMatchObject({
      ...erased,
      removed: { messages: 1 },
    })
    const left = await client.messages.list({ thread })
    expect(left.items.map(({ keptAside, content }) => keptAside ?? content)).toEqual(['erased', 'erased', 'three'])
    await expect(client.messages.erase({ thread, fromSeq: 7, toSeq: 8 })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      field: 'message',
    })
    await expect(client.messages.erase({ thread })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    const hidden = await client.messages.erase({ thread, fromSeq: 3, toSeq: 3 }, { wait: false })
    expect(hidden).toMatchObject({ finished: false })
  })

  test('lists the summaries of a thread, and the messages behind each', async () => {
    await pipeline.clientOf(own).threads.waitUntilSettled('long')
    const { items } = await client.summaries.list({ thread: 'long', limit: 10 })
    expect(items[0]).toMatchObject({
      kind: 'whole',
      parent: null,
      summary: expect.any(String),
      from: { seq: expect.any(Number) },
    })
    const summary = items[0]?.id ?? ''
    const seqs: number[] = []
    let cursor: string | null = null
    do {
      const next: string | undefined = cursor ?? undefined
      const page = await client.summaries.messages({ thread: 'long', summary, limit: 7, cursor: next })
      seqs.push(...page.items.map(({ seq }) => seq))
      cursor = page.nextCursor
    } while (cursor !== null)
    expect([seqs[0], seqs.at(-1)]).toEqual([items[0]?.from?.seq, items[0]?.to?.seq])
    expect(seqs).toEqual(seqs.toSorted((one, other) => one - other))
    const gone = client.summaries.messages({ thread: 'long', summary: '018f0000-0000-7000-8000-00000000dead' })
    await expect(gone).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.summaries.list({ thread: 'nowhere' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('shows the state of a run', async () => {
    await client.threads.put('run', { agent: 'looper', goal: 'All tests pass', loop: { currentCli: 'claude' } })
    const iterations = [{ prompt: 'do it', output: 'done', modelUsed: 'small' }]
    await client.iterations.append({ agent: 'looper', thread: 'run', iterations })
    expect(await client.iterations.loop('run')).toMatchObject({
      goal: 'All tests pass',
      iterations: [{ prompt: 'do it', output: 'done' }],
      summary: null,
      totalIterations: 1,
      currentCli: 'claude',
      currentModel: 'small',
    })
    await expect(client.iterations.loop('nowhere')).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'thread' })
  })

  test('exports a thread and imports it under another name, and both exports are the same', async () => {
    const lines = await linesOf(client.threads.export('long'))
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ type: 'thread', thread: { name: 'long' } })
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ type: 'end', records: lines.length - 1 })
    let imported = 0
    const read = async function* () {
      yield* lines
    }
    const onProgress = (messages: number) => {
      imported = messages
    }
    expect(await client.threads.import(read, { as: 'copy', onProgress })).toMatchObject({
      thread: 'copy',
      agent: 'reader',
      messages: 80,
    })
    expect(imported).toBe(80)
    expect((await client.threads.import(read, { as: 'copy' })).added.message ?? 0).toBe(0)
    const again = await linesOf(client.threads.export('copy'))
    expect(again.length).toBe(lines.length)
    expect(again.filter((line) => line.startsWith('{"type":"message"')).map((line) => JSON.parse(line).id)).toEqual(
      lines.filter((line) => line.startsWith('{"type":"message"')).map((line) => JSON.parse(line).id),
    )
    await expect(linesOf(client.threads.export('nowhere'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const cut = client.threads.import(async function* () {
      yield* lines.slice(0, -1)
    })
    await expect(cut).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: `line ${lines.length}` })
  })

  test('returns a context that is rebuilt from the store', async () => {
    const built = await client.contexts.build({ thread: 'long', budget: 4_000 })
    expect(await client.contexts.get(built.id, { rebuild: true })).toEqual(built)
  })

  test('erases an agent with its threads', async () => {
    await client.messages.append({ agent: 'gone', thread: 'gone too', messages: [user('forget this')] })
    expect(await client.agents.delete('gone')).toMatchObject({ kind: 'agent', name: 'gone', finished: true })
    await expect(client.agents.get('gone')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.threads.get('gone too')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.agents.delete('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('creates a key whose secret is shown once, lists it, changes it, and revokes it', async () => {
    const made = await client.keys.create({ name: 'shipper', role: 'produce' })
    expect(made).toMatchObject({ name: 'shipper', role: 'produce', key: expect.stringMatching(/^hdl_/) })
    const { items, nextCursor } = await client.keys.list()
    const { key: _, ...shown } = made
    expect(items).toContainEqual(shown)
    expect([nextCursor, JSON.stringify(items).includes('hdl_')]).toEqual([null, false])
    expect(await client.keys.update(made.id, { proxyMode: 'stub' })).toEqual({ ...shown, proxyMode: 'stub' })
    const revoked = await client.keys.revoke(made.id)
    expect(revoked).toMatchObject({ id: made.id, revokedAt: expect.any(String) })
    expect(await client.keys.revoke(made.id)).toEqual(revoked)
    const king = client.keys.create({ name: 'x', role: 'king' as never })
    await expect(king).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'role' })
  })

  test('offers a grant that another project accepts, and ends it', async () => {
    const other = pipeline.clientOf(`${own}-neighbour`)
    await expect(other.grants.accept(own)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await client.grants.offer(`${own}-neighbour`)
    const toProjectId = projectIdOf(`${own}-neighbour`)
    expect((await client.grants.list()).items).toMatchObject([{ toProjectId, acceptedAt: null, revokedAt: null }])
    await other.grants.accept(own)
    expect((await client.grants.list()).items).toMatchObject([{ toProjectId, acceptedAt: expect.any(String) }])
    await client.grants.revoke({ to: `${own}-neighbour` })
    expect((await client.grants.list()).items).toMatchObject([{ revokedAt: expect.any(String) }])
    await expect(client.grants.accept('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.grants.offer(own)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  })

  test('lists the dead letters of its own project, and sends them again', async () => {
    const letter = { stage: 'prune', threadId: null, error: { code: 'INTERNAL' as const, detail: 'why' }, attempts: 5 }
    const payload = { projectId: projectIdOf(own), threadId: projectIdOf('some thread') }
    await pipeline.store.inProject(projectIdOf(own), (tx) => insertDeadLetter(tx, { ...letter, jobId: 'own', payload }))
    await pipeline.store.inProject(projectIdOf('stranger'), async (tx) => {
      await insertDeadLetter(tx, { ...letter, jobId: 'foreign', payload })
    })
    const listed = await client.deadLetters.list({ stage: 'prune', limit: 10 })
    expect(listed).toMatchObject([{ stage: 'prune', jobId: 'own', attempts: 5, failedAt: expect.any(String) }])
    expect(await client.deadLetters.list({ stage: 'embed' })).toEqual([])
    const id = listed[0]?.id ?? ''
    const shown = await client.deadLetters.get(id)
    expect(shown).toEqual({ ...listed[0], payload: JSON.stringify(payload), payloadCharacters: expect.any(Number) })
    const none = '018f0000-0000-7000-8000-00000000dead'
    await expect(client.deadLetters.get(none)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await client.deadLetters.redrive({ id: none })).toEqual({ redriven: 0, refused: [] })
    expect(await client.deadLetters.redrive({ id, limit: 10 })).toEqual({ redriven: 1, refused: [] })
    await waitFor(async () => (await client.deadLetters.list()).length === 0)
    await expect(client.deadLetters.list({ limit: 0 })).rejects.toMatchObject({ field: 'limit' })
  })
})

test('a project sees how far its own threads are behind each stage, since when, and why one failed', async () => {
  const project = 'behind'
  const { key } = await pipeline.clientOf(project).keys.create({ name: 'reader', role: 'read' })
  const clients = [createClient({ url: http.url, key }), pipeline.clientOf(project)]
  const embedOf = async (client: Pick<RemoteClient, 'stages'>) =>
    (await client.stages.behind()).items.find(({ stage }) => stage === 'embed')
  const none = { stage: 'embed', threads: 0, messages: 0, since: null, thread: null, failure: null, isComplete: true }
  await pipeline.client.stages.pause('embed')
  for (const name of ['first', 'second'])
    await pipeline
      .clientOf(project)
      .messages.append({ agent: 'reader', thread: name, messages: [user('a'), user('b')] })
  const { items } = await pipeline.clientOf(project).messages.list({ thread: 'first' })
  const threadId = threadIdOf(projectIdOf(project), 'second')
  const mark = { threadId, stage: 'embed', error: 'UNAUTHORIZED the key was refused', retryAtMs: Date.UTC(2040, 0, 1) }
  await pipeline.store.inProject(projectIdOf(project), (tx) => markThreadFailed(tx, mark))
  for (const client of clients)
    expect(await embedOf(client)).toEqual({
      ...none,
      ...{ threads: 2, messages: 4, since: items[0]?.receivedAt, thread: 'first' },
      failure: {
        ...{ threads: 1, thread: 'second', error: 'UNAUTHORIZED the key was refused' },
        retryAt: '2040-01-01T00:00:00.000Z',
      },
    })
  expect(await embedOf(pipeline.clientOf('stranger'))).toEqual(none)
  await pipeline.client.stages.resume('embed')
  await waitFor(async () => (await embedOf(clients[0] as RemoteClient))?.threads === 0)
  expect(await embedOf(pipeline.clientOf(project))).toEqual(none)
})

test('any project sees the stages; only the one that the gateway runs for pauses them and sees the findings', async () => {
  const { key } = await pipeline.clientOf('tenant').keys.create({ name: 'admin', role: 'admin' })
  const tenant = createClient({ url: http.url, key })
  const operators = createClient({ url: http.url })
  const { items } = await tenant.stages.list()
  expect(items.map(({ stage }) => stage)).toEqual([...stageNames])
  expect(items.find(({ stage }) => stage === 'ingest')).toMatchObject({ paused: false, workers: expect.any(Number) })
  await expect(tenant.stages.pause('embed')).rejects.toMatchObject({ code: 'FORBIDDEN', received: 'admin' })
  for (const client of [operators, pipeline.client]) {
    expect(await client.stages.pause('embed')).toEqual({ stage: 'embed', paused: true })
    expect((await tenant.stages.list()).items.find(({ stage }) => stage === 'embed')?.paused).toBe(true)
    expect(await client.stages.resume('embed')).toEqual({ stage: 'embed', paused: false })
  }
  expect((await tenant.stages.list()).items.some(({ paused }) => paused)).toBe(false)
  expect((await http.ask('POST', '/v1/stages/embedding/pause')).body).toMatchObject({ field: 'stage' })
  for (const client of [tenant, pipeline.client]) {
    const { stages } = await client.stages.scaling()
    expect(Object.keys(stages)).toEqual([...stageNames])
    const none = {
      backlog: 0,
      waiting: 0,
      prioritized: 0,
      due: 0,
      oldestWaitSeconds: 0,
      scaleSeconds: 0,
      paused: false,
    }
    expect(stages.embed).toEqual(none)
  }
  const samples = (await http.ask('GET', '/v1/stages/samples')).body.items
  expect(samples.at(-1)).toMatchObject({ at: expect.any(String), stages: expect.any(Array) })
  expect((await http.ask('GET', '/v1/findings')).body.items).toMatchObject([{ name: 'database', status: 'ok' }])
  const asTenant = { headers: { authorization: `Bearer ${key}` } }
  expect((await http.ask('GET', '/v1/findings', asTenant)).status).toBe(403)
})

test('dead letters without a project are not shown to any project over HTTP', async () => {
  const error = { code: 'INTERNAL' as const, detail: 'of nobody' }
  const letter = { stage: 'ingest', jobId: 'nobody', threadId: null, payload: null, error, attempts: 1 }
  const nil = '00000000-0000-0000-0000-000000000000'
  await pipeline.store.inProject(nil, (tx) => insertDeadLetter(tx, letter))
  const { key } = await pipeline.clientOf('tenant').keys.create({ name: 'admin', role: 'admin' })
  const tenant = createClient({ url: http.url, key })
  expect(await tenant.deadLetters.list()).toEqual([])
  expect(await tenant.deadLetters.redrive()).toEqual({ redriven: 0, refused: [] })
  expect(await pipeline.clientOf('tenant').deadLetters.list()).toMatchObject([{ jobId: 'nobody' }])
})

test('an import accepts only JSON lines, and other routes do not accept them', async () => {
  const post = (path: string, type: string) =>
    fetch(`${http.url}${path}`, { method: 'POST', headers: { 'content-type': type }, body: '{}' })
  expect((await post('/v1/threads', 'application/json')).status).toBe(400)
  expect((await post('/v1/search', 'application/jsonl')).status).toBe(415)
  const refused = await post('/v1/threads', 'application/jsonl')
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { code: 'VALIDATION_ERROR', field: 'line 1.type' },
  ])
})
