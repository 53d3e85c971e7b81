import type { MessageInput } from '@heddle/contracts'
import { messageFingerprint } from '@heddle/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AppendSituation, type NamedAppend, type PreparedMessage, planAppends } from './append-plan.js'

const id = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`

function message(number: number, content = `text ${number}`): PreparedMessage {
  const input: MessageInput = { id: id(number), role: 'user', content }
  return { input, ordinal: 0, orderedAtMs: number, tokensEstimate: 1, fingerprint: messageFingerprint(input) }
}

function appendTo(threadId: string, messages: PreparedMessage[]): NamedAppend {
  return { requestId: id(0), agent: 'a', agentId: 'agent', thread: threadId, threadId, messages }
}

function situation(fields: Partial<AppendSituation> = {}): AppendSituation {
  const empty = { place: '(0,1)', agentId: 'agent', headSeq: 0, tokensEstimate: 0, latestAtMs: null }
  const threads = new Map([
    ['t1', empty],
    ['t2', empty],
  ])
  return { projectId: 'project', receivedAtMs: 0, threads, known: new Map(), erased: new Set(), ...fields }
}

describe('planAppends', () => {
  it('limits the positions of fast clocks by the time of receipt', () => {
    const appends = [appendTo('t1', [message(10_000), message(70_000), message(61_000)])]
    const { messages, threads } = planAppends(appends, situation({ receivedAtMs: 60_000 }))
    expect(messages.map((planned) => planned.message.orderedAtMs)).toEqual([10_000, 65_000, 61_000])
    expect(threads.get('t1')?.latestAtMs).toBe(65_000)
  })

  it('numbers the messages of a thread on across the appends of a batch', () => {
    const plan = planAppends(
      [appendTo('t1', [message(1)]), appendTo('t2', [message(2)]), appendTo('t1', [message(3)])],
      situation(),
    )
    expect(plan.messages.map(({ threadId, seq }) => [threadId, seq])).toEqual([
      ['t1', 1],
      ['t2', 1],
      ['t1', 2],
    ])
    expect(plan.outcomes.map(({ fromSeq, headSeq }) => [fromSeq, headSeq])).toEqual([
      [1, 1],
      [1, 1],
      [2, 2],
    ])
  })

  it('counts a repeat within an append and across appends, and adds it once', () => {
    const plan = planAppends([appendTo('t1', [message(1), message(1)]), appendTo('t1', [message(1)])], situation())
    expect(plan.messages).toHaveLength(1)
    expect(plan.outcomes.map(({ stored, repeated }) => [stored, repeated])).toEqual([
      [1, 1],
      [0, 1],
    ])
  })

  it('refuses an append with a used id as a whole, names the message, and goes on with the others', () => {
    const plan = planAppends(
      [appendTo('t1', [message(1)]), appendTo('t1', [message(2), message(1, 'other')]), appendTo('t2', [message(2)])],
      situation(),
    )
    expect(plan.outcomes.map(({ error }) => error?.code ?? null)).toEqual([null, 'CONFLICT', null])
    expect(plan.outcomes[1]?.error).toMatchObject({ field: 'messages.1.id', received: id(1) })
    expect(plan.messages.map(({ message: { input } }) => input.id)).toEqual([id(1), id(2)])
  })

  it('takes the same id in two threads for two messages', () => {
    const plan = planAppends([appendTo('t1', [message(1)]), appendTo('t2', [message(1, 'other')])], situation())
    expect(plan.outcomes.map(({ stored, error }) => [stored, error])).toEqual([
      [1, null],
      [1, null],
    ])
  })

  it('refuses what was erased and what belongs to another agent', () => {
    const erased = planAppends([appendTo('t1', [message(1)])], situation({ erased: new Set(['t1']) }))
    expect(erased.outcomes[0]?.error).toMatchObject({ code: 'CONFLICT', detail: expect.stringContaining('erased') })
    const foreign = planAppends([{ ...appendTo('t1', [message(1)]), agentId: 'other' }], situation())
    expect(foreign.outcomes[0]?.error).toMatchObject({ code: 'CONFLICT', field: 'agent' })
  })

  it('refuses NUL in names and ids but takes it in contents', () => {
    const withFields = (fields: Partial<MessageInput>) => {
      const one = message(1)
      return planAppends([appendTo('t1', [{ ...one, input: { ...one.input, ...fields } }])], situation()).outcomes[0]
        ?.error
    }
    expect(withFields({ content: 'a\0b' })).toBeNull()
    expect(withFields({ sourceId: 'a\0b' })).toMatchObject({ code: 'VALIDATION_ERROR', field: 'messages.0.sourceId' })
    expect(withFields({ toolName: 'a\ud800' })).toMatchObject({
      code: 'VALIDATION_ERROR',
      field: 'messages.0.toolName',
    })
  })

  it('adds the same whether messages come in one append or in many', () => {
    const numbers = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(numbers, fc.array(fc.integer({ min: 1, max: 59 })), (sequence, cuts) => {
        const parts: NamedAppend[] = []
        let from = 0
        for (const cut of [...cuts, sequence.length].sort((left, right) => left - right)) {
          const part = sequence.slice(from, cut)
          if (part.length > 0)
            parts.push(
              appendTo(
                't1',
                part.map((number) => message(number)),
              ),
            )
          from = Math.max(from, cut)
        }
        const whole = planAppends(
          [
            appendTo(
              't1',
              sequence.map((number) => message(number)),
            ),
          ],
          situation(),
        )
        expect(planAppends(parts, situation()).messages).toEqual(whole.messages)
      }),
    )
  })
})
