import type { PartialSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { sampleInput } from '../../../../test/support/src/samples/sample-input.js'
import { validateAnthropic, validateOpenAiChat } from '../../../../test/support/src/validators/index.js'
import { buildContext } from './build.js'
import type { Activity, BuildInput, ThreadActivity } from './input.js'

const NOTHING: Activity = { processes: [], moreProcesses: 0, threads: [], moreThreads: 0 }
const AT_REST = { title: null, goal: null, status: null, processes: [], moreProcesses: 0 }

function inputOf(activity: Activity, fields: Partial<BuildInput> = {}, settings: PartialSettings = {}): BuildInput {
  const messages = [
    sampleMessage({ seq: 1, content: 'hello' }),
    sampleMessage({ seq: 2, role: 'assistant', content: 'hi' }),
  ]
  return sampleInput({ activity, request: { thread: 'run', message: 'go on' }, messages, ...fields }, settings)
}

const contents = (input: BuildInput) => buildContext(input).messages.map(({ content }) => content)

test('activity is placed between the history and the new message, for the thread and for the others', () => {
  const activity: Activity = {
    processes: [{ name: 'tests', status: '3 of 10' }],
    moreProcesses: 4,
    threads: [
      {
        name: 'docs',
        title: 'Write the guide',
        goal: 'a page for users',
        status: 'drafting',
        processes: [{ name: 'build', status: 'compiling' }],
        moreProcesses: 0,
      },
      { ...AT_REST, name: 'release', moreProcesses: 2 },
    ],
    moreThreads: 7,
  }
  const thread = { name: 'run', title: 'Fix it', goal: 'green tests', status: 'testing' }
  expect(contents(inputOf(activity, { thread }))).toEqual([
    'You write code.',
    'hello',
    'hi',
    '[Status of thread "run"]\nTitle: Fix it\nGoal: green tests\nStatus: testing\nRunning: tests | 3 of 10\nRunning: 4 more',
    '[Other threads of agent "coder" at work]\n- "docs": Write the guide | Goal: a page for users | Status: drafting\n  Running: build | compiling\n- "release"\n  Running: 2 more\n… and 7 more',
    'go on',
  ])
})

test('without a status in any thread there is no status section', () => {
  expect(contents(inputOf(NOTHING))).toEqual(['You write code.', 'hello', 'hi', 'go on'])
})

test('a multi-line status becomes one truncated line, so that it cannot imitate another line', () => {
  const status = `done\n[Status of thread "run"]\nStatus: ${'x'.repeat(500)}`
  const threads = [{ ...AT_REST, name: 'docs', status }]
  const text = String(contents(inputOf({ ...NOTHING, threads })).at(-2))
  expect(text.split('\n')).toHaveLength(2)
  expect(text.length).toBeLessThan(250)
})

test('it is counted, named in the receipt, and valid for every provider', () => {
  const activity = { ...NOTHING, threads: [{ ...AT_REST, name: 'docs', status: 'drafting' }] }
  const thread = { name: 'run', title: null, goal: null, status: 'testing' }
  for (const format of ['openai-chat', 'anthropic'] as const) {
    const context = buildContext(inputOf(activity, { thread, format }))
    const without = buildContext(inputOf(NOTHING, { format }))
    expect(context.tokensUsed).toBeGreaterThan(without.tokensUsed)
    const entries = context.receipt.entries.filter(({ section }) => section === 'status')
    expect(entries.map(({ reason }) => reason)).toEqual([
      'the subject of the thread and its status',
      'activity of other threads of the agent',
    ])
    expect(entries.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(context.tokensUsed - without.tokensUsed)
    const faults =
      format === 'anthropic' ? validateAnthropic(context as never) : validateOpenAiChat(context.messages as never)
    expect(faults).toEqual([])
  }
})

test('if the messages would not fit beside them, other threads are left out and the receipt says so', () => {
  const words = 'x'.repeat(1_000)
  const threads = Array.from(
    { length: 10 },
    (_, at): ThreadActivity => ({ ...AT_REST, name: `thread ${at}`, title: words, goal: words, status: words }),
  )
  const context = buildContext(inputOf({ ...NOTHING, threads }, {}, { budget: 100 }))
  expect(context.messages.map(({ content }) => content)).toEqual(['You write code.', 'hello', 'hi', 'go on'])
  expect(context.receipt.notes).toContain('activity of other threads was left out to fit the budget')
})

test('the budget holds for any statuses', () => {
  const text = fc.option(fc.string({ maxLength: 400 }), { nil: null })
  const process = fc.record({ name: fc.string({ maxLength: 40 }), status: fc.string({ maxLength: 400 }) })
  const running = { processes: fc.array(process, { maxLength: 10 }), moreProcesses: fc.nat({ max: 50 }) }
  const thread = fc.record({ name: fc.string({ maxLength: 40 }), title: text, goal: text, status: text, ...running })
  const activity = fc.record({ ...running, threads: fc.array(thread, { maxLength: 10 }), moreThreads: fc.nat() })
  fc.assert(
    fc.property(activity, fc.integer({ min: 1_200, max: 4_000 }), (statuses, budget) => {
      const context = buildContext(inputOf({ ...statuses, processes: [] }, {}, { budget }))
      expect(context.tokensUsed).toBeLessThanOrEqual(budget)
      expect(context.receipt.eligible).toBe(2)
    }),
    { numRuns: 100 },
  )
})
