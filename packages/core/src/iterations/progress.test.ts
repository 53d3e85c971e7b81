import { defaultSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextProgress, type ProgressStep, progressLane, REGENERATED_ITERATIONS_MAX } from './progress.js'

const defaults = defaultSettings.iterations

/** The steps of a worker that runs at each of the given numbers of iterations. */
function series(wakes: readonly number[], settings = defaults): ProgressStep[] {
  const steps: ProgressStep[] = []
  for (const total of wakes) {
    for (;;) {
      const checkpoint = Math.max(
        0,
        ...steps.map(({ coveredCount }) => coveredCount).filter((count) => count % REGENERATED_ITERATIONS_MAX === 0),
      )
      const step = nextProgress(total, steps.at(-1) ?? null, checkpoint, settings)
      if (step === null) break
      steps.push(step)
    }
  }
  return steps
}

const upTo = (total: number) => Array.from({ length: total }, (_, index) => index + 1)
const last = (steps: readonly ProgressStep[]) => steps.at(-1) ?? null

/** The steps from which the last one's text was derived. */
function ancestry(steps: readonly ProgressStep[]): ProgressStep[] {
  const line: ProgressStep[] = []
  for (let step = last(steps); step !== null; ) {
    line.push(step)
    const { baseCount }: ProgressStep = step
    step = baseCount === 0 ? null : (steps.findLast(({ coveredCount }) => coveredCount === baseCount) ?? null)
  }
  return line
}

describe('the progress summary of a loop', () => {
  test('begins when the oldest of six iterations leaves the window of five', () => {
    expect(series(upTo(5))).toEqual([])
    expect(series(upTo(6))).toEqual([{ kind: 'fold', total: 6, coveredCount: 1, baseCount: 0 }])
  })

  test('adds the oldest iteration of the window at each new one, and is regenerated at every tenth', () => {
    expect(series(upTo(12)).map(({ kind, total, coveredCount }) => `${total}: ${kind} to ${coveredCount}`)).toEqual([
      '6: fold to 1',
      '7: fold to 2',
      '8: fold to 3',
      '9: fold to 4',
      '10: regenerate to 5',
      '11: fold to 6',
      '12: fold to 7',
    ])
  })

  test('is regenerated from its own iterations only by a worker that wakes late, and then continued', () => {
    expect(series([12])).toEqual([
      { kind: 'regenerate', total: 10, coveredCount: 5, baseCount: 0 },
      { kind: 'fold', total: 11, coveredCount: 6, baseCount: 5 },
      { kind: 'fold', total: 12, coveredCount: 7, baseCount: 6 },
    ])
  })

  test('of a long loop reads at most 200 iterations at once, and the summary of the earlier ones', () => {
    const steps = series([1_000])
    for (const { coveredCount, baseCount } of steps) {
      expect(coveredCount - baseCount).toBeLessThanOrEqual(REGENERATED_ITERATIONS_MAX)
    }
    expect(last(steps)).toMatchObject({ total: 1_000, coveredCount: 995, baseCount: 800 })
  })

  test('reaches the same step through the same steps, whenever workers woke', () => {
    const settings = fc.record({
      rawWindowSize: fc.integer({ min: 1, max: 30 }),
      summarizeEvery: fc.integer({ min: 1, max: 60 }),
      shownIterations: fc.constant(3),
      shownCharacters: fc.constant(1_000),
      window: fc.constant('fixed' as const),
    })
    const wakes = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(settings, wakes, (chosen, some) => {
        const total = Math.max(...some)
        const late = series(
          some.toSorted((left, right) => left - right),
          chosen,
        )
        expect(ancestry(late)).toEqual(ancestry(series(upTo(total), chosen)))
        expect(last(late)?.coveredCount ?? 0).toBe(Math.max(0, total - chosen.rawWindowSize))
      }),
      { numRuns: 40 },
    )
  })

  test('is a series of its own for each window, interval and length', () => {
    const lane = (changed: object) =>
      progressLane({ iterations: { ...defaults, ...changed }, maxSummaryTokens: 2_000, ...changed })
    expect(lane({ shownIterations: 5, shownCharacters: 5_000 })).toBe(lane({}))
    const lanes = [{}, { rawWindowSize: 4 }, { summarizeEvery: 9 }, { maxSummaryTokens: 1_999 }].map(lane)
    expect(new Set(lanes).size).toBe(lanes.length)
  })
})
