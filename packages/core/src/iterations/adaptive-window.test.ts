import { type defaultSettings, mergeSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleIteration } from '../../../../test/support/src/samples/iterations.js'
import { estimateTokens } from '../tokens/tokens.js'
import type { LoopContext } from './loop.js'
import { nextProgress, type ProgressState } from './progress.js'
import { type LoopPrompt, layOutLoop } from './prompt.js'

type IterationSettings = (typeof defaultSettings)['iterations']

/** A run as the store returns it: with the summary in force, its later iterations, and the regenerated versions before. */
function runOf(outputs: readonly string[], settings: Pick<IterationSettings, 'rawWindowSize' | 'summarizeEvery'>) {
  const all = outputs.map((output, index) => sampleIteration({ number: index + 1, output }))
  const versions: (ProgressState & { id: string; kind: string })[] = []
  for (let total = 1; total <= all.length; total++) {
    const step = nextProgress(total, versions.at(-1) ?? null, 0, settings)
    if (step === null) continue
    const { coveredCount, kind } = step
    const summary = `The summary of 1-${coveredCount}.`
    const id = `version-${total}`
    versions.push({ id, kind, total, coveredCount, coveredFrom: 1, coveredTo: coveredCount, summary, summaryTokens: 9 })
  }
  const summary = versions.at(-1) ?? null
  const coveredCount = summary?.coveredCount ?? 0
  const earlier = {
    iterations: all.slice(0, coveredCount),
    summaries: versions.filter((each) => each.kind === 'regenerate' && each.coveredCount < coveredCount).reverse(),
  }
  const loop: LoopContext = {
    goal: 'Fix the login',
    iterations: all.slice(coveredCount),
    summary,
    ...(summary !== null && { earlier }),
    totalIterations: all.length,
    startTime: null,
    currentCli: 'codex',
    currentModel: null,
    envSnapshot: {},
    fileEvents: [],
  }
  return { loop, all }
}

function lay(loop: LoopContext, iterations: Partial<IterationSettings>, roomTokens: number) {
  return layOutLoop(loop, { settings: mergeSettings({ iterations }), roomTokens, count: estimateTokens })
}

function prompt(loop: LoopContext, iterations: Partial<IterationSettings>, roomTokens: number): LoopPrompt {
  const laid = lay(loop, iterations, roomTokens)
  if ('neededTokens' in laid) throw new Error(`needs ${laid.neededTokens} tokens`)
  return laid
}

const numbersOf = ({ shown }: LoopPrompt) => shown.map(({ iteration }) => iteration.number)
const outputs = (length: number, words = 20) => Array.from({ length }, (_, index) => `${index} word`.repeat(words))
const SETTINGS = { rawWindowSize: 5, summarizeEvery: 10 }
const ADAPTIVE = { ...SETTINGS, window: 'adaptive' as const }

describe('a window that adapts', () => {
  test('shows all of a short run without a summary, and in a long run all after the earliest version that fits', () => {
    const short = prompt(runOf(outputs(12), SETTINGS).loop, ADAPTIVE, 10_000)
    expect(numbersOf(short)).toEqual(Array.from({ length: 12 }, (_, index) => index + 1))
    expect(short.divided).toMatchObject({ summary: null, stateId: null })

    const long = prompt(runOf(outputs(47, 60), SETTINGS).loop, ADAPTIVE, 2_500)
    expect(long.divided).toMatchObject({ summary: { coveredTo: 25 }, stateId: 'version-30' })
    expect(long.text).toContain('# Progress Summary (iterations 1-25)\nThe summary of 1-25.')
    expect(numbersOf(long)).toEqual(Array.from({ length: 22 }, (_, index) => index + 26))
    expect(numbersOf(prompt(runOf(outputs(47, 60), SETTINGS).loop, SETTINGS, 2_500))).toEqual([45, 46, 47])
  })

  test('is the fixed one in a budget that holds no window whole', () => {
    const { loop } = runOf(outputs(47, 400), SETTINGS)
    expect(prompt(loop, ADAPTIVE, 700)).toEqual(prompt(loop, SETTINGS, 700))
  })

  test('ignores a version that a late iteration made void', () => {
    const { loop } = runOf(outputs(47, 60), SETTINGS)
    const { earlier } = loop
    if (earlier === undefined) throw new Error('no earlier iterations')
    const summaries = earlier.summaries.map((state) =>
      state.coveredTo === 25 ? { ...state, coveredCount: 24 } : state,
    )
    const changed = prompt({ ...loop, earlier: { ...earlier, summaries } }, ADAPTIVE, 2_500)
    expect(changed.divided.summary?.coveredTo).toBe(35)
  })

  test('is not wider for iterations without output', () => {
    const empty = outputs(47, 60).map((output, index) => (index >= 25 && index < 35 ? '' : output))
    expect(prompt(runOf(empty, SETTINGS).loop, ADAPTIVE, 2_000).divided.summary?.coveredTo).toBe(35)
  })

  test('keeps the beginning of the prompt of a growing run for longer than a fixed window does', () => {
    const changes = (window: 'fixed' | 'adaptive') => {
      let summary: unknown
      let changed = 0
      for (let length = 30; length <= 90; length++) {
        const { divided } = prompt(runOf(outputs(length, 60), SETTINGS).loop, { ...SETTINGS, window }, 3_500)
        if (divided.summary?.coveredTo !== summary) changed++
        summary = divided.summary?.coveredTo
      }
      return changed
    }
    expect(changes('fixed')).toBe(61)
    expect(changes('adaptive')).toBeLessThanOrEqual(8)
  })

  test('stays within its budget, shows no less than the fixed one, and has each iteration raw or covered, not both', () => {
    const runs = fc.record({
      outputs: fc.array(
        fc.oneof(
          fc.lorem({ maxCount: 60 }),
          fc.constant(''),
          fc.nat(3_000).map((length) => 'x 語'.repeat(length)),
        ),
        { maxLength: 60 },
      ),
      roomTokens: fc.integer({ min: 60, max: 12_000 }),
      settings: fc.record({
        rawWindowSize: fc.integer({ min: 1, max: 8 }),
        summarizeEvery: fc.integer({ min: 1, max: 12 }),
        shownIterations: fc.integer({ min: 1, max: 8 }),
        shownCharacters: fc.integer({ min: 1, max: 5_000 }),
      }),
    })
    let wider = 0
    fc.assert(
      fc.property(runs, ({ outputs, roomTokens, settings }) => {
        const { loop, all } = runOf(outputs, settings)
        const fixed = lay(loop, settings, roomTokens)
        const adapted = lay(loop, { ...settings, window: 'adaptive' }, roomTokens)
        expect(lay(loop, { ...settings, window: 'adaptive' }, roomTokens)).toEqual(adapted)
        if ('neededTokens' in adapted) {
          expect(adapted).toEqual(fixed)
          return
        }
        expect(estimateTokens(adapted.text)).toBeLessThanOrEqual(roomTokens)
        const shownByFixed = 'neededTokens' in fixed ? 0 : fixed.shown.length
        expect(adapted.shown.length).toBeGreaterThanOrEqual(shownByFixed)
        if (adapted.shown.length > shownByFixed) wider++
        const { summary, deferred } = adapted.divided
        const raw = [...deferred, ...adapted.crowdedOut, ...adapted.shown.map(({ iteration }) => iteration)]
        expect(raw).toEqual(all.slice(summary?.coveredCount ?? 0))
        for (const { number } of raw) expect(number).toBeGreaterThan(summary?.coveredTo ?? 0)
      }),
      { numRuns: 150 },
    )
    expect(wider).toBeGreaterThan(20)
  })
})
