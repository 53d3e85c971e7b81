import { defaultSettings, mergeSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { conversations, sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { readConversation } from '../conversation/conversation.js'
import type { Message, Position } from '../conversation/message.js'
import { comparePositions, positionOf } from '../conversation/order.js'
import { defineStrategy } from '../strategies/define.js'
import { laneOf } from '../strategies/lane-of.js'
import { rawCost } from './costs.js'
import type { Lane } from './lane.js'
import { nextCompaction } from './plan.js'
import { stateAfter } from './settle.js'
import type { CompactionState } from './state.js'

/** The share of the limit by which a context grows between two compactions. */
const GROWTH_SHARE = 0.1

/** The points at which a conversation is compacted, in order. */
function pointsOf(messages: readonly Message[], lane: Lane): Position[] {
  const conversation = readConversation(messages)
  const points: Position[] = []
  let state: CompactionState | null = null
  for (;;) {
    const plan = nextCompaction(conversation, state, lane, (message) => `msg-${message.code}`)
    if (plan === null) return points
    points.push(plan.point)
    state = stateAfter(plan, state, messages.at(-1)?.seq ?? 0)
  }
}

const compactions = (messages: readonly Message[], budget: number) =>
  pointsOf(messages, laneOf(mergeSettings({ budget }))).length

/** Tokens of the messages between two positions. */
const between = (messages: readonly Message[], after: Position, to: Position) =>
  messages
    .filter((message) => comparePositions(message, after) > 0 && comparePositions(message, to) <= 0)
    .reduce((sum, message) => sum + rawCost(message), 0)

const growthSteps = (messages: readonly Message[], budget: number) =>
  messages.reduce((sum, message) => sum + rawCost(message), 0) / (budget * GROWTH_SHARE)

test('after a compaction the thread must grow before the next one, however little was freed', () => {
  fc.assert(
    fc.property(conversations(), fc.integer({ min: 600, max: 8_000 }), (messages, budget) => {
      expect(compactions(messages, budget)).toBeLessThanOrEqual(growthSteps(messages, budget) + 1)
    }),
    { numRuns: 30 },
  )
})

test('between two compactions the thread grows by a tenth of its limit, whatever the first one freed', () => {
  let pairs = 0
  fc.assert(
    fc.property(conversations(), fc.integer({ min: 600, max: 8_000 }), (messages, budget) => {
      const points = pointsOf(messages, laneOf(mergeSettings({ budget })))
      for (const [index, point] of points.entries()) {
        const before = points[index - 1]
        if (before === undefined) continue
        pairs++
        expect(between(messages, before, point)).toBeGreaterThanOrEqual(budget * GROWTH_SHARE)
      }
    }),
    { numRuns: 40 },
  )
  expect(pairs).toBeGreaterThan(40)
})

test('the same holds between two attempts that free nothing', () => {
  let pairs = 0
  fc.assert(
    fc.property(conversations(), fc.integer({ min: 600, max: 8_000 }), (messages, budget) => {
      const tries: Position[] = []
      const strategy = defineStrategy({
        name: 'in vain',
        compressionThreshold: 0.7,
        planCoverage(seen) {
          const last = seen.at(-1)
          if (last) tries.push(positionOf(last))
          return null
        },
      })
      // No message is old enough to be pruned, so every attempt fails.
      const prune = { ...defaultSettings.prune, keepLastN: 1_000 }
      expect(pointsOf(messages, { ...laneOf(mergeSettings({ budget, prune })), strategy })).toEqual([])
      for (const [index, point] of tries.entries()) {
        const before = tries[index - 1]
        if (before === undefined) continue
        pairs++
        expect(between(messages, before, point)).toBeGreaterThanOrEqual(budget * GROWTH_SHARE)
      }
    }),
    { numRuns: 40 },
  )
  expect(pairs).toBeGreaterThan(40)
})

test('if pins leave nothing to free, no compaction is made, though the context stays over its trigger', () => {
  const budget = 4_000
  const pinned = Array.from({ length: 40 }, (_, index) =>
    sampleMessage({ seq: index + 1, content: 'x'.repeat(800), pinned: true }),
  )
  const more = Array.from({ length: 20 }, (_, index) => sampleMessage({ seq: 41 + index, content: 'ok' }))
  expect(growthSteps(pinned, budget)).toBeGreaterThan(10)
  expect(compactions([...pinned, ...more], budget)).toBe(0)
})
