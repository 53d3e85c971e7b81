import { defaultSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { conversation, decide, FILE } from '../../../../test/support/src/samples/pruned-conversation.js'
import { pairToolCalls } from '../conversation/turns.js'
import { countTokens } from '../tokens/tokens.js'

describe('for any conversation', () => {
  const step = fc.record({
    kind: fc.constantFrom('user', 'reply', 'view', 'edit', 'write', 'bash', 'parallel', 'lost'),
    path: fc.constantFrom('/a.ts', '/b.ts'),
    offset: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
    failed: fc.boolean(),
    pinned: fc.constantFrom(false, false, false, true),
    text: fc.constantFrom('', '', 'I look.', 'word '.repeat(700)),
  })
  const conversations = fc.array(step, { maxLength: 40 }).map((steps) => {
    const { messages, add, tool } = conversation()
    for (const { kind, path, offset, failed, pinned, text } of steps) {
      const args = { file_path: path, ...(offset !== undefined && { offset, limit: 20 }) }
      const more = { call: { content: text }, result: { isError: failed, pinned } }
      if (kind === 'user') add({ content: text, pinned })
      else if (kind === 'reply') add({ role: 'assistant', content: text, pinned })
      else if (kind === 'view') tool('Read', args, FILE, more)
      else if (kind === 'edit') tool('Edit', args, 'The file was updated. '.repeat(9), more)
      else if (kind === 'write') tool('Write', { file_path: path, content: FILE }, 'The file was written.', more)
      else if (kind === 'bash') tool('Bash', { command: `run ${path}` }, 'output\n'.repeat(30), more)
      else if (kind === 'lost') add({ role: 'assistant', toolCalls: [{ id: 'lost', name: 'Read', arguments: args }] })
      else {
        const id = `p${messages.length}`
        add({
          role: 'assistant',
          toolCalls: [`${id}a`, `${id}b`].map((callId) => ({ id: callId, name: 'Read', arguments: args })),
        })
        for (const callId of [`${id}a`, `${id}b`])
          add({ role: 'tool_result', toolCallId: callId, content: FILE, isError: failed })
      }
    }
    return messages
  })
  const keepLastN = fc.integer({ min: 0, max: 12 })

  test('no call loses its result, every text is one shorter line, and the archive has the message byte for byte', () => {
    fc.assert(
      fc.property(conversations, keepLastN, (messages, keep) => {
        const pairs = pairToolCalls(messages)
        const decisions = decide(messages, { settings: { ...defaultSettings.prune, keepLastN: keep } })
        const removed = new Set(decisions.flatMap(({ action, messageId }) => (action === 'remove' ? [messageId] : [])))
        for (const { action, messageId, text, calls, archive } of decisions) {
          const message = messages.find(({ id }) => id === messageId)
          expect(message?.pinned).toBe(false)
          expect(messages.length - (message?.seq ?? 0)).toBeGreaterThanOrEqual(keep)
          expect(text).not.toContain('\n')
          for (const call of calls) {
            expect(call.archive.content).toBe(JSON.stringify(message?.toolCalls[call.number - 1]))
            expect(countTokens(call.text)).toBeLessThan(call.archive.tokens)
          }
          expect(text === '').toBe(action === 'remove' || archive === calls[0]?.archive)
          if (text !== '' || message?.role === 'tool_result') expect(archive.content).toBe(message?.content)
          if (text !== '') expect(countTokens(text)).toBeLessThan(archive.tokens)
        }
        for (const pair of [...pairs.byCallMessage.values()].flat()) {
          if (pair.result) expect(removed.has(pair.callMessage.id)).toBe(removed.has(pair.result.id))
          else expect(removed.has(pair.callMessage.id)).toBe(false)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('a second pass over the same messages finds nothing more to do', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const first = decide(messages)
        const alreadyPruned = new Set(first.map(({ messageId }) => messageId))
        const condensed = new Set(
          first.flatMap(({ action, messageId, text }) => (action === 'condense' && text !== '' ? [messageId] : [])),
        )
        const condensedCalls = new Map(
          first.flatMap(({ messageId, calls }) =>
            calls.length === 0 ? [] : [[messageId, calls.map(({ number }) => number)]],
          ),
        )
        expect(decide(messages)).toEqual(first)
        expect(decide(messages, { alreadyPruned, condensed, condensedCalls })).toEqual([])
      }),
      { numRuns: 100 },
    )
  })
})
