import { defaultSettings } from '@heddle/contracts'
import { describe, expect, test } from 'vitest'
import { conversation, decide, FILE } from '../../../../test/support/src/samples/pruned-conversation.js'
import type { Message } from '../conversation/message.js'
import { countTokens } from '../tokens/tokens.js'

const summaryOf = (decisions: ReturnType<typeof decide>) =>
  decisions.map(({ messageId, action, reason }) => `${messageId} ${action}: ${reason}`)

test('an old tool result is condensed to one line with its reference, and archived byte for byte', () => {
  const { messages, tool, filler } = conversation()
  const { result } = tool('Bash', { command: 'npm run build' }, 'compiled a file\r\n'.repeat(40))
  filler(10)
  const [decision] = decide(messages)
  expect(decision).toMatchObject({
    messageId: result.id,
    action: 'condense',
    text: '⚡ Ran: npm run build - ok [recall:msg-code0002]',
    archive: { contentType: 'bash', content: result.content, toolName: 'Bash', tokens: countTokens(result.content) },
  })
})

test('the newest messages are unchanged', () => {
  const { messages, tool, filler } = conversation()
  tool('Read', { file_path: '/a.ts' }, FILE)
  filler(9)
  expect(messages).toHaveLength(11)
  expect(decide(messages)).toEqual([])
  filler(1)
  expect(decide(messages)).toHaveLength(1)
})

test('a view and its call are removed once the file was edited successfully', () => {
  const { messages, tool, filler } = conversation()
  tool('Read', { file_path: '/a.ts', offset: 1, limit: 60 }, FILE)
  tool('Edit', { file_path: '/src/../a.ts' }, 'The file was updated.')
  filler(10)
  expect(summaryOf(decide(messages))).toEqual([
    'm1 remove: superseded by a later edit',
    'm2 remove: superseded by a later edit',
  ])
})

test('a failed edit and an edit without a result supersede nothing', () => {
  const { messages, add, tool, filler } = conversation()
  tool('Read', { file_path: '/a.ts' }, FILE)
  tool('Edit', { file_path: '/a.ts' }, 'String to replace not found in file.', { result: { isError: true } })
  add({ role: 'assistant', toolCalls: [{ id: 'lost', name: 'Edit', arguments: { file_path: '/a.ts' } }] })
  filler(10)
  expect(decide(messages).find(({ messageId }) => messageId === 'm2')).toMatchObject({
    action: 'condense',
    text: '📁 Viewed /a.ts - 60 lines: const value0 = 0 [recall:msg-code0002]',
  })
})

test('a later view supersedes an earlier one only if it covers its lines', () => {
  const { messages, tool, filler } = conversation()
  const lines = (from: number, to: number) =>
    FILE.split('\n')
      .slice(from - 1, to)
      .join('\n')
  tool('Read', { file_path: '/a.ts', offset: 10, limit: 20 }, lines(10, 29))
  tool('Read', { file_path: '/a.ts', offset: 20, limit: 20 }, lines(20, 39))
  tool('Read', { file_path: '/a.ts', offset: 5, limit: 30 }, lines(5, 34))
  filler(10)
  expect(summaryOf(decide(messages))).toEqual([
    'm1 remove: superseded by a later view',
    'm2 remove: superseded by a later view',
    'm4 condense: old tool result',
    'm6 condense: old tool result',
  ])
})

test('a view that only refers to the earlier one does not supersede it', () => {
  const { messages, tool, filler } = conversation()
  tool('Read', { file_path: '/a.ts' }, FILE)
  tool('Read', { file_path: '/a.ts' }, 'File unchanged since last read. The earlier result is still current.')
  filler(10)
  expect(summaryOf(decide(messages))).not.toContain('m2 remove: superseded by a later view')
})

test('an edit whose result names the open file supersedes a view of it', () => {
  const { messages, tool, filler } = conversation()
  const footer = '\n(Open file: /repo/src/a.py)\n(Current directory: /repo)\nbash-$'
  tool('open', '{"path":"src/a.py","line_number":1}', FILE + footer)
  tool('edit', '{"search":"a","replace":"b"}', `1:x${footer}`)
  filler(10)
  expect(summaryOf(decide(messages))).toContain('m2 remove: superseded by a later edit')
})

describe('a call in a message with other content', () => {
  const shared: [string, Partial<Message>][] = [
    ['text', { content: 'I look at the file first.' }],
    ['thinking', { thinking: [{ text: 'hm', signature: 's' }] }],
  ]
  test.each(shared)('keeps its call, and its result becomes a stub, beside %s', (_, call) => {
    const { messages, tool, filler } = conversation()
    tool('Read', { file_path: '/a.ts' }, FILE, { call })
    tool('Edit', { file_path: '/a.ts' }, 'ok')
    filler(10)
    const [decision, ...others] = decide(messages)
    expect(others).toEqual([])
    expect(decision).toMatchObject({ messageId: 'm2', action: 'stub', archive: { content: FILE } })
    expect(decision?.text).toBe('📝 Removed (/a.ts): superseded by a later edit [recall:msg-code0002]')
  })

  test('keeps its call beside other calls', () => {
    const { messages, add, tool, filler } = conversation()
    const calls = ['a', 'b'].map((id) => ({ id, name: 'Read', arguments: { file_path: `/${id}.ts` } }))
    add({ role: 'assistant', toolCalls: calls })
    for (const id of ['a', 'b']) add({ role: 'tool_result', toolCallId: id, content: FILE })
    tool('Write', { file_path: '/a.ts' }, 'ok')
    filler(10)
    expect(summaryOf(decide(messages))).toEqual(['m2 stub: superseded by a later edit', 'm3 condense: old tool result'])
  })

  test('and blank text does not count as content', () => {
    const { messages, tool, filler } = conversation()
    tool('Read', { file_path: '/a.ts' }, FILE, { call: { content: '\n\n' } })
    tool('Edit', { file_path: '/a.ts' }, 'ok')
    filler(10)
    expect(decide(messages).map(({ action }) => action)).toEqual(['remove', 'remove'])
  })
})

test('a failed result is removed once it is old enough, together with its call, which is archived too', () => {
  const { messages, tool, filler } = conversation()
  const { call } = tool('Bash', { command: 'make' }, `Exit code 2\n${'no rule\n'.repeat(50)}`, {
    result: { isError: true },
  })
  filler(6)
  const settings = { ...defaultSettings.prune, keepLastN: 2 }
  const decisions = decide(messages, { settings })
  expect(decisions.map(({ action }) => action)).toEqual(['remove', 'remove'])
  expect(JSON.parse(decisions[0]?.archive.content ?? '')).toEqual(call.toolCalls)
  expect(decide(messages.slice(0, -1), { settings }).map(({ text }) => text)).toEqual([
    '⚡ Ran: make - exit 2 [recall:msg-code0002]',
  ])
})

test('a stub of a failure states the error if that is shorter than the result', () => {
  const stubOf = (content: string) => {
    const { messages, tool, filler } = conversation()
    const call = { content: 'I try it.' }
    tool('Fetch', { url: 'x' }, content, { call, result: { isError: true } })
    filler(10)
    return decide(messages)[0]?.text
  }
  expect(stubOf(`the host is away\n${'at line 3\n'.repeat(30)}`)).toBe(
    '📝 Removed: old result of a failed call, failed: the host is away [recall:msg-code0002]',
  )
  expect(stubOf('the far host that serves the page is away and the proxy in front of it did not answer in time')).toBe(
    '📝 Removed: old result of a failed call [recall:msg-code0002]',
  )
  expect(stubOf('no')).toBeUndefined()
})

test('the text of a user who refused a call is kept', () => {
  const { messages, tool, filler } = conversation()
  const refusal =
    "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nuse tabs"
  tool('Edit', { file_path: '/a.ts' }, refusal, { result: { isError: true } })
  filler(10)
  expect(decide(messages)).toEqual([])
})

test('a long old reply is condensed, a short one and one with thinking are not', () => {
  const { messages, add, filler } = conversation()
  const content = `Now I write the review:\n\n# Review of the parser\n\n${'It reads well. '.repeat(200)}`
  add({ role: 'assistant', content })
  add({ role: 'assistant', content: 'A short reply.' })
  add({ role: 'assistant', content, thinking: [{ text: 'hm' }] })
  add({ role: 'user', content })
  filler(10)
  const decisions = decide(messages)
  expect(summaryOf(decisions)).toEqual(['m1 condense: old long reply'])
  expect(decisions[0]?.text).toBe('📝 Review of the parser [recall:msg-code0001]')
})

test('messages that are pinned, kept aside, or protected by the caller are never changed', () => {
  const { messages, tool, filler } = conversation()
  tool('Read', { file_path: '/a.ts' }, FILE, { result: { pinned: true } })
  tool('Read', { file_path: '/b.ts' }, FILE, { result: { keptAside: 'compact-summary' } })
  tool('Read', { file_path: '/c.ts' }, FILE)
  filler(10)
  expect(decide(messages, { keptRaw: new Set(['m6']) })).toEqual([])
})

test('a pinned call protects its result', () => {
  const { messages, tool, filler } = conversation()
  tool('Read', { file_path: '/a.ts' }, FILE, { call: { pinned: true } })
  tool('Edit', { file_path: '/a.ts' }, 'ok')
  filler(10)
  expect(summaryOf(decide(messages))).toEqual(['m2 stub: superseded by a later edit'])
})

test('the newest message of either side is kept even if nothing else is', () => {
  const { messages, tool, add } = conversation()
  add({ role: 'user', content: 'look' })
  tool('Read', { file_path: '/a.ts' }, FILE)
  const settings = { ...defaultSettings.prune, keepLastN: 0, condenseAfterN: 0, removeErrorsAfter: 0 }
  expect(decide(messages, { settings })).toEqual([])
})

test('a text that would not become shorter is kept', () => {
  const { messages, tool, filler } = conversation()
  tool('Bash', { command: 'true' }, 'done')
  filler(10)
  expect(decide(messages)).toEqual([])
})

test('a message is decided on once, except that a condensed view is removed when the file changes', () => {
  const { messages, tool, filler } = conversation()
  tool('Read', { file_path: '/a.ts' }, FILE)
  filler(10)
  const alreadyPruned = new Set(decide(messages).map(({ messageId }) => messageId))
  expect([...alreadyPruned]).toEqual(['m2'])
  expect(decide(messages, { alreadyPruned, condensed: alreadyPruned })).toEqual([])
  tool('Edit', { file_path: '/a.ts' }, 'ok')
  expect(decide(messages, { alreadyPruned })).toEqual([])
  expect(decide(messages, { alreadyPruned, condensed: alreadyPruned }).map(({ messageId }) => messageId)).toEqual([
    'm1',
    'm2',
  ])
})
