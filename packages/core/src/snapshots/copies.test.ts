import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../conversation/message.js'
import { copyOf, originalOf, snapshotOfMark, withTheirPairs } from './copies.js'
import { toSnapshotMessage } from './format.js'

const THREAD = '018f0000-0000-7000-8000-00000000000a'
const SNAPSHOT = '018f0000-0000-7000-8000-00000000000b'
const FIRST = '018f0000-0000-7000-8000-000000000001'
const MARK = '018f0000-0000-7000-8000-000000000002'
const AT_MS = Date.parse('2026-02-12T14:00:00.000Z')

const message: Message & { sourceId: null; metadata: null } = {
  id: MARK,
  seq: 9,
  code: 'abcdefgh',
  role: 'user',
  content: 'hello',
  thinking: [],
  toolCalls: [],
  toolCallId: null,
  toolName: null,
  isError: false,
  orderedAtMs: AT_MS + 60_000,
  ordinal: 0,
  model: null,
  usage: null,
  pinned: false,
  keptAside: null,
  contextId: null,
  tokens: 1,
  reasoningTokens: 0,
  tokensExact: true,
  sourceId: null,
  metadata: null,
}

describe('a snapshot of restored messages', () => {
  it('has each as the original message, with its original time', () => {
    const restores = { id: FIRST, seq: 1, orderedAtMs: AT_MS }
    expect(toSnapshotMessage(THREAD, { ...message, restores })).toMatchObject({
      id: FIRST,
      timestamp: '2026-02-12T14:00:00.000Z',
    })
    expect(toSnapshotMessage(THREAD, message)).toMatchObject({ id: MARK, timestamp: '2026-02-12T14:01:00.000Z' })
  })

  it('resolves a copy of a copy to the original message, and to the snapshot that each came from', () => {
    const saved = { ...toSnapshotMessage(THREAD, message), id: FIRST, timestamp: '2026-02-12T14:00:00.000Z' }
    const copy = copyOf(saved, { id: MARK, snapshotId: SNAPSHOT })
    const again = { ...saved, id: MARK, timestamp: 'later', metadata: copy.metadata ?? {} }
    expect(originalOf(again)).toEqual({ id: FIRST, timestamp: '2026-02-12T14:00:00.000Z' })
    expect(snapshotOfMark(copy.metadata ?? null)).toBe(SNAPSHOT)
    for (const metadata of [null, {}, { restored: null }, { restored: { snapshot: 'no id' } }])
      expect(snapshotOfMark(metadata)).toBeNull()
  })

  it('is restored with all missing calls and results of those messages, and with nothing else', () => {
    const steps = fc.array(fc.record({ calls: fc.nat({ max: 3 }), missing: fc.nat({ max: 15 }) }), { maxLength: 8 })
    fc.assert(
      fc.property(steps, (turns) => {
        const saved = turns.flatMap(({ calls }, turn) => {
          const ids = Array.from({ length: calls }, (_, index) => `${turn}-${index}`)
          const base = { thread_id: THREAD, content: '', timestamp: 'then' }
          return [
            {
              ...base,
              id: `call ${turn}`,
              role: 'assistant' as const,
              ...(calls > 0 && { tool_calls: ids.map((id) => ({ id, name: 'Read', arguments: {} })) }),
            },
            ...ids.map((id) => ({ ...base, id: `result ${id}`, role: 'tool_result' as const, tool_call_id: id })),
          ]
        })
        const bitOf = new Map<string, number>()
        for (const [turn, { calls }] of turns.entries()) {
          bitOf.set(`call ${turn}`, 0)
          for (let index = 0; index < calls; index++) bitOf.set(`result ${turn}-${index}`, index + 1)
        }
        const turnOf = (id: string) => Number(/\d+/.exec(id)?.[0])
        const isMissing = ({ id }: { id: string }) =>
          (((turns[turnOf(id)]?.missing ?? 0) >> (bitOf.get(id) ?? 0)) & 1) === 1
        const touched = new Set(saved.filter(isMissing).map(({ id }) => turnOf(id)))
        expect(withTheirPairs(saved, isMissing)).toEqual(saved.filter(({ id }) => touched.has(turnOf(id))))
      }),
    )
  })
})
