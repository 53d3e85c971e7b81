import { type Epoch, type JsonObject, type ProxyMode, storedEpochSchema } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { checkRendered } from './check.js'
import { coverSizes, makeCover } from './cover.js'
import { advanceEpoch, withFurtherCost } from './epoch.js'
import { planRequest } from './plan.js'
import { defaultReplacementPolicy, type ReplacementPolicy } from './policy.js'
import { pricesOf } from './prices.js'
import type { Protocol } from './protocol.js'
import { RequestReader } from './read-request.js'
import { renderPlan } from './render.js'
import { marksOf, resumeEpoch, storedEpochOf } from './stored-epoch.js'

const policy: ReplacementPolicy = {
  ...defaultReplacementPolicy,
  resultTokensMin: 100,
  resultTokensKept: 30,
  oldResultTokensMin: 60,
  oldResultTokensKept: 10,
  keptTokens: 300,
  summaryTokens: 100,
  coverTokensMin: 300,
}

interface Step {
  readonly calls: number
  readonly resultCharacters: number
  readonly asks: boolean
  readonly idleMs: number
  readonly edits: boolean
}

const step = fc.record({
  calls: fc.integer({ min: 0, max: 3 }),
  resultCharacters: fc.constantFrom(20, 300, 900, 4_000),
  asks: fc.boolean(),
  idleMs: fc.constantFrom(1_000, 1_000, 1_000, 400_000),
  edits: fc.constantFrom(false, false, false, false, true),
})

const protocol = fc.constantFrom<Protocol>('anthropic', 'openai-chat', 'openai-responses')

const RUNS = { numRuns: propertyRuns(160) }

describe('a conversation through the proxy', () => {
  test('is never sent in a form that the provider refuses, and keeps its sent prefix inside an epoch', () => {
    fc.assert(
      fc.property(
        protocol,
        fc.constantFrom<ProxyMode>('stub', 'compact'),
        fc.array(step, { maxLength: 25 }),
        (kind, mode, steps) => {
          for (const { plan, epoch, faults, sentHashes } of replay(kind, mode, steps)) {
            expect(faults).toEqual([])
            if (!plan.isNewEpoch && epoch !== null) {
              const before = epoch.sent ?? epoch.entries
              expect(sentHashes.slice(0, before.length)).toEqual(before)
            }
          }
        },
      ),
      RUNS,
    )
  })

  test('never costs more than without the proxy, wherever it ends', () => {
    fc.assert(
      fc.property(protocol, fc.array(step, { maxLength: 40 }), (kind, steps) => {
        let [direct, paid] = [0, 0]
        for (const { plan } of replay(kind, 'compact', steps)) {
          direct += plan.costs.direct
          paid += plan.costs.sent
          expect(paid).toBeLessThanOrEqual(direct * 1.011)
        }
      }),
      RUNS,
    )
  })

  test('goes on with the same bytes in another process', () => {
    const unedited = step.map((each) => ({ ...each, edits: false }))
    fc.assert(
      fc.property(
        protocol,
        fc.constantFrom<ProxyMode>('observe', 'stub', 'compact'),
        fc.array(unedited, { maxLength: 25 }),
        (kind, mode, steps) => {
          const direct = [...replay(kind, mode, steps)]
          for (const [index, { rendered, plan }] of [...replay(kind, mode, steps, { isResumed: true })].entries()) {
            expect(Buffer.from(rendered).equals(direct[index]?.rendered as Uint8Array)).toBe(true)
            expect(plan).toEqual(direct[index]?.plan)
          }
        },
      ),
      RUNS,
    )
  })

  test('is valid in another process, too, whatever its client changes meanwhile', () => {
    fc.assert(
      fc.property(
        protocol,
        fc.constantFrom<ProxyMode>('stub', 'compact'),
        fc.array(step, { maxLength: 25 }),
        (kind, mode, steps) => {
          for (const { faults } of replay(kind, mode, steps, { isResumed: true })) expect(faults).toEqual([])
        },
      ),
      RUNS,
    )
  })

  test('begins anew in another process that would send other bytes', () => {
    const steps = Array.from({ length: 6 }, () => ({ ...LONG_STEP, resultCharacters: 4_000 }))
    const { epoch, request, body } = lastOf('anthropic', steps)
    const stored = storedEpochOf(epoch, marksOf(epoch, request, request))
    const other = {
      ...stored,
      state: { ...stored.state, marks: { ...stored.state.marks, sent: { at: 1, chain: 'of another version' } } },
    }
    const reader = new RequestReader()
    const resumed = resumeEpoch(other, { request, body, reader, referenceOf: (callId) => `msg-${callId}` })
    expect(resumed).toMatchObject({ stubs: [], cover: null, number: epoch.number, costs: epoch.costs })
    const { prices } = pricesOf('anthropic', 'some-model')
    const facts = { request, body, epoch: resumed, mode: 'stub' as const, policy, prices, prepared: null, nowMs: 1 }
    const plan = planRequest({ ...facts, referenceOf: (callId) => `msg-${callId}` })
    expect(plan).toMatchObject({ isNewEpoch: true, epoch: epoch.number + 1 })
    expect(plan.reasons).toEqual(['client-changed'])
  })

  test('is rewritten later the more its recalls cost, and not at all while they cost more than was saved', () => {
    const steps = Array.from({ length: 40 }, () => LONG_STEP)
    const rewrites = (recalled: number) =>
      [...replay('anthropic', 'compact', steps, { recalled })].flatMap(({ plan }, index) =>
        plan.reasons.includes('pays') ? [index] : [],
      )
    const [first = 0] = rewrites(0)
    const epoch = [...replay('anthropic', 'compact', steps)][first]?.epoch
    const saved = (epoch?.costs.direct ?? 0) - (epoch?.costs.sent ?? 0)
    expect(saved).toBeGreaterThan(0)
    const [later = 0] = rewrites(saved)
    expect(later).toBeGreaterThan(first)
    expect(rewrites(1_000_000)).toEqual([])
  })

  test('keeps its bytes wherever nothing is replaced', () => {
    fc.assert(
      fc.property(protocol, fc.array(step, { minLength: 1, maxLength: 15 }), (kind, steps) => {
        for (const { body, rendered, plan } of replay(kind, 'compact', steps)) {
          if (plan.stubs.length === 0 && plan.cover === null) expect(rendered).toBe(body)
          expect(rendered.length).toBeLessThanOrEqual(body.length)
        }
      }),
      RUNS,
    )
  })

  test('is left as it is in observe', () => {
    fc.assert(
      fc.property(protocol, fc.array(step, { minLength: 1, maxLength: 10 }), (kind, steps) => {
        for (const { body, rendered } of replay(kind, 'observe', steps)) expect(rendered).toBe(body)
      }),
      RUNS,
    )
  })

  test('gets stubs and a cover in a long run', () => {
    const long: Step[] = Array.from({ length: 40 }, () => LONG_STEP)
    const replies = [...replay('anthropic', 'compact', long)]
    expect(replies.some(({ plan }) => plan.cover !== null)).toBe(true)
    expect(replies.at(-1)?.rendered.length).toBeLessThan((replies.at(-1)?.body.length ?? 0) / 3)
    expect(new Set(replies.flatMap(({ plan }) => plan.reasons))).toEqual(new Set(['first', 'extends', 'pays']))
  })
})

/** Their memory is large, so that one for each conversation would take most of the time. */
const READER = new RequestReader()
const OTHER_READER = new RequestReader()

const LONG_STEP: Step = { calls: 2, resultCharacters: 900, asks: false, idleMs: 1_000, edits: false }

function lastOf(protocol: Protocol, steps: readonly Step[]) {
  const last = [...replay(protocol, 'stub', steps)].at(-1)
  const request = new RequestReader().read(protocol, last?.body ?? Buffer.of())
  if (last === undefined || request === null || last.epoch === null) throw new Error('the sample is no conversation')
  return { epoch: last.epoch, request, body: last.body }
}

interface ReplayOptions {
  /** Whether each request is handled by a process that has the state of the last one from the store. */
  readonly isResumed?: boolean
  /** The cost of recalls in the first reply, in micro-dollars. */
  readonly recalled?: number
}

function* replay(
  protocol: Protocol,
  mode: ProxyMode,
  steps: readonly Step[],
  { isResumed = false, recalled = 0 }: ReplayOptions = {},
) {
  let reader = READER
  const { prices } = pricesOf(protocol, 'some-model')
  const entries: JsonObject[] = [user(protocol, 'please begin')]
  let epoch: Epoch | null = null
  let stored: string | null = null
  let nowMs = 0
  let calls = 0
  let prepared: ReturnType<typeof makeCover> = null
  for (const { calls: count, resultCharacters, asks, idleMs, edits } of steps) {
    nowMs += idleMs
    if (edits) entries.splice(-1, 1, user(protocol, `another way ${nowMs}`))
    const body = Buffer.from(JSON.stringify(bodyOf(protocol, entries)))
    const request = reader.read(protocol, body)
    if (request === null) throw new Error('the sample is no request')
    const referenceOf = (callId: string) => `msg-${callId}`
    if (isResumed && stored !== null) {
      reader = OTHER_READER
      epoch = resumeEpoch(storedEpochSchema.parse(JSON.parse(stored)), { request, body, reader, referenceOf })
    }
    const plan = planRequest({ request, body, epoch, mode, policy, prices, prepared, referenceOf, nowMs })
    const rendered = renderPlan(request, body, plan)
    const sent = rendered === body ? request : reader.read(protocol, rendered)
    const faults = checkRendered(request, sent, { epoch, plan })
    yield { body, rendered, plan, epoch, faults, sentHashes: sent?.entries.map(({ hash }) => hash) ?? [] }
    if (sent === null) return
    const isFirst = epoch === null
    epoch = advanceEpoch(epoch, { request, sent, plan, nowMs })
    if (isFirst) epoch = withFurtherCost(epoch, recalled)
    stored = JSON.stringify(storedEpochOf(epoch, marksOf(epoch, request, sent)))
    if (coverSizes({ request, epoch }, policy, prices) !== null) {
      prepared = makeCover(request, body, { before: request.entries.length - 4, text: 'What was done until now.' })
    }
    entries.push(...reply(protocol, calls, count))
    for (let call = calls; call < calls + count; call++) entries.push(...result(protocol, call, resultCharacters))
    if (count === 0 || asks) entries.push(user(protocol, `go on ${calls} ${entries.length}`))
    calls += count
  }
}

function bodyOf(protocol: Protocol, entries: readonly JsonObject[]): JsonObject {
  if (protocol === 'openai-responses') return { model: 'some-model', instructions: 'be good', input: [...entries] }
  return protocol === 'anthropic'
    ? { model: 'some-model', system: 'be good', messages: merged(entries) }
    : { model: 'some-model', messages: [{ role: 'system', content: 'be good' }, ...entries] }
}

/** Anthropic expects all results of a reply in one message. */
function merged(entries: readonly JsonObject[]): JsonObject[] {
  const list: JsonObject[] = []
  for (const entry of entries) {
    const last = list.at(-1)
    if (last?.['role'] === 'user' && entry['role'] === 'user') {
      list[list.length - 1] = { role: 'user', content: [...(last['content'] as []), ...(entry['content'] as [])] }
    } else list.push(entry)
  }
  return list
}

function user(protocol: Protocol, text: string): JsonObject {
  return protocol === 'anthropic'
    ? { role: 'user', content: [{ type: 'text', text }] }
    : { role: 'user', content: text }
}

function reply(protocol: Protocol, from: number, count: number): JsonObject[] {
  const numbers = Array.from({ length: count }, (_, index) => from + index)
  switch (protocol) {
    case 'anthropic':
      return [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: `thought ${from}`, signature: 'c2ln' },
            { type: 'text', text: `I look ${from}` },
            ...numbers.map((number) => ({ type: 'tool_use', id: `c${number}`, name: 'Read', input: { number } })),
          ],
        },
      ]
    case 'openai-chat':
      return [
        {
          role: 'assistant',
          content: `I look ${from}`,
          ...(count > 0 && {
            tool_calls: numbers.map((number) => ({
              id: `c${number}`,
              type: 'function',
              function: { name: 'read', arguments: `{"number":${number}}` },
            })),
          }),
        },
      ]
    case 'openai-responses':
      return [
        { type: 'reasoning', id: `rs_${from}`, encrypted_content: `e${from}`, summary: [] },
        count === 0
          ? { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: `I look ${from}` }] }
          : { type: 'function_call', call_id: `c${from}`, name: 'read', arguments: '{}' },
        ...numbers
          .slice(1)
          .map((number) => ({ type: 'function_call', call_id: `c${number}`, name: 'read', arguments: '{}' })),
      ]
  }
}

function result(protocol: Protocol, number: number, characters: number): JsonObject[] {
  const text = `result ${number}\n${'some words of it\n'.repeat(Math.ceil(characters / 17))}`
  switch (protocol) {
    case 'anthropic':
      return [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${number}`, content: text }] }]
    case 'openai-chat':
      return [{ role: 'tool', tool_call_id: `c${number}`, content: text }]
    case 'openai-responses':
      return [{ type: 'function_call_output', call_id: `c${number}`, output: text }]
  }
}
