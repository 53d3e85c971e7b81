import { defaultSettings, mergeSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleIteration } from '../../../../test/support/src/samples/iterations.js'
import { countTokens, estimateTokens } from '../tokens/tokens.js'
import type { LoopContext } from './loop.js'
import type { ProgressState } from './progress.js'
import { type LoopPrompt, layOutLoop, loopSectionNames } from './prompt.js'

const INSTRUCTIONS =
  '# Instructions\nContinue working toward the goal. Output:\n' +
  '- `<progress>what you accomplished</progress>` for progress\n' +
  '- `<promise>COMPLETE</promise>` when goal is fully achieved'

function state(fields: Partial<ProgressState> = {}): ProgressState {
  return {
    total: 12,
    coveredCount: 7,
    coveredFrom: 1,
    coveredTo: 7,
    summary: 'All is well.',
    summaryTokens: 4,
    ...fields,
  }
}

function loopOf(
  outputs: readonly string[],
  { summary = null as ProgressState | null, goal = 'Fix the login' as string | null } = {},
): LoopContext {
  const before = summary?.coveredCount ?? 0
  return {
    goal,
    iterations: outputs.map((output, index) => sampleIteration({ number: before + index + 1, output })),
    summary,
    totalIterations: before + outputs.length,
    startTime: null,
    currentCli: 'codex',
    currentModel: null,
    envSnapshot: {},
    fileEvents: [],
  }
}

function prompt(
  loop: LoopContext,
  { settings = {}, roomTokens = 100_000, count = countTokens, guard = (text: string) => text } = {},
): LoopPrompt {
  const laid = layOutLoop(loop, { settings: mergeSettings(settings), roomTokens, count, guard })
  if ('neededTokens' in laid) throw new Error(`needs ${laid.neededTokens} tokens`)
  return laid
}

const numbers = (length: number) => Array.from({ length }, (_, index) => `output ${index + 1}`)

describe('the prompt of a loop', () => {
  test('has the goal, the summary, the last three iterations, the state and the instructions, verbatim', () => {
    const { text } = prompt(loopOf(['a', 'b', 'c', 'd', 'e'], { summary: state() }))
    expect(text).toBe(
      [
        '# Goal\nFix the login',
        '# Progress Summary (iterations 1-7)\nAll is well.',
        '# Recent Iterations\n## Iteration 10\nc\n\n## Iteration 11\nd\n\n## Iteration 12\ne',
        '# Current State\n- Total iterations: 12\n- Current CLI: codex',
        INSTRUCTIONS,
      ].join('\n\n'),
    )
  })

  test('of a first iteration has no summary and only that iteration', () => {
    const { text, sections } = prompt(loopOf(['a']))
    expect(sections.map(({ name }) => name)).toEqual(['goal', 'recent-iterations', 'current-state', 'instructions'])
    expect(text).toContain('# Recent Iterations\n## Iteration 1\na\n\n# Current State\n- Total iterations: 1')
  })

  test('before the first iteration has the goal and the instructions', () => {
    const { text } = prompt(loopOf([]))
    expect(text).toBe(
      `# Goal\nFix the login\n\n# Current State\n- Total iterations: 0\n- Current CLI: codex\n\n${INSTRUCTIONS}`,
    )
  })

  test('shows 1,000 characters of a long output, and marks an empty one as empty', () => {
    const { text, shown } = prompt(loopOf(['', 'o'.repeat(5_000)]))
    expect(text).toContain('## Iteration 1\n(empty output)\n\n')
    expect(text).toContain(`## Iteration 2\n${'o'.repeat(1_000)}\n\n# Current State`)
    expect(shown.map(({ isCut }) => isCut)).toEqual([false, true])
  })

  test('keeps the progress at the end of a cut output, also where the budget cuts further', () => {
    const told = '<progress>All 14 tests pass.</progress>'
    const long = `${'log line '.repeat(400)}\n${told}\nbye`
    const whole = prompt(loopOf([long]))
    expect(whole.text).toContain(`${long.slice(0, 1_000)}\n[…]\n${told}\n\n# Current State`)
    const small = prompt(loopOf([long, long, `${'short '.repeat(30)}\n${told}`]), { roomTokens: 260 })
    expect(small.text.split(told).length - 1).toBe(3)
    const cut = prompt(loopOf([`${'short '.repeat(150)}\n${told}`]), { roomTokens: 160 })
    expect(cut.text).toContain(`[…]\n${told}`)
    const unclosed = prompt(loopOf([`${'x '.repeat(900)}<progress>Half of it is done`]))
    expect(unclosed.text).toContain('[…]\n<progress>Half of it is done</progress>')
  })

  test('cuts a goal that is longer than its section', () => {
    const { text, sections } = prompt(loopOf(['a'], { goal: 'Fix the login. '.repeat(100_000) }))
    expect(sections[0]).toMatchObject({ name: 'goal', isCut: true })
    expect(countTokens(text)).toBeLessThan(1_200)
  })

  test('keeps the note about iterations without output in a summary that is cut', () => {
    const summary = `${'- A fact of the run. '.repeat(300)}\n\nIterations without output: 2, 5`
    const { text } = prompt(loopOf(['a'], { summary: state({ summary }) }), { roomTokens: 300 })
    expect(text).toContain('\n\nIterations without output: 2, 5\n\n# Recent Iterations')
  })

  test('shows as many iterations and characters as the settings request, at most 5,000', () => {
    const settings = { iterations: { shownIterations: 4, shownCharacters: 5_000 } }
    const { shown, text } = prompt(loopOf(['a', 'b', 'c', 'd', 'o'.repeat(9_000)]), { settings })
    expect(shown.map(({ iteration }) => iteration.number)).toEqual([2, 3, 4, 5])
    expect(text).toContain(`\n${'o'.repeat(5_000)}\n\n#`)
  })

  test('summarizes iterations outside the window that no summary covers yet, without a model', () => {
    const { divided, text } = prompt(loopOf(['Decided to use JWT instead of sessions.', ...numbers(5)]))
    expect(divided.covered.map(({ number }) => number)).toEqual([1])
    expect(text).toContain('# Progress Summary (iterations 1-1)\n')
    expect(text).toContain('Decided to use JWT instead of sessions.')
    const further = prompt(loopOf(numbers(7), { summary: state({ summary: 'Decided to use JWT.' }) }))
    expect(further.text).toContain('# Progress Summary (iterations 1-9)\n')
    expect(further.text).toContain('Decided to use JWT.')
  })

  test('gives each part at most its allocation, and less than 35,000 tokens in total', () => {
    const dense = '語😀'.repeat(40_000)
    const settings = { iterations: { shownIterations: 5, shownCharacters: 5_000 } }
    const { sections, tokens, shown } = prompt(
      loopOf(
        Array.from({ length: 5 }, () => dense),
        { summary: state({ summary: dense }), goal: dense },
      ),
      { settings },
    )
    const size = new Map(sections.map((section) => [section.name, section.tokens]))
    expect(size.get('goal')).toBeLessThanOrEqual(1_000 + 10)
    expect(size.get('progress-summary')).toBeLessThanOrEqual(2_000 + 20)
    for (const one of shown) expect(one.tokens).toBeLessThanOrEqual(6_000 + 10)
    expect(size.get('recent-iterations')).toBeLessThanOrEqual(30_000 + 60)
    expect(size.get('instructions')).toBeLessThanOrEqual(500)
    expect(tokens).toBeLessThanOrEqual(35_000)
  })

  test('guards its summary if required, also when it is cut', () => {
    const guard = (text: string) => `<data>${text}</data>`
    const { text } = prompt(loopOf(['a'], { summary: state({ summary: 'word '.repeat(500) }) }), {
      guard,
      roomTokens: 300,
    })
    expect(text).toMatch(/# Progress Summary \(iterations 1-7\)\n<data>word [^<]*<\/data>\n\n/)
  })

  test('never exceeds its budget, whatever it contains, and accounts for every iteration once', () => {
    const output = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.lorem({ maxCount: 30, mode: 'sentences' }),
      fc.integer({ min: 0, max: 2_500 }).map((length) => 'x 語'.repeat(length)),
      fc.constant(''),
    )
    const loops = fc.record({
      goal: fc.option(fc.string({ unit: 'binary', maxLength: 4_000 })),
      outputs: fc.array(output, { maxLength: 14 }),
      summary: fc.option(fc.string({ unit: 'binary', minLength: 1, maxLength: 3_000 })),
      roomTokens: fc.integer({ min: 1, max: 8_000 }),
      iterations: fc.record({
        rawWindowSize: fc.integer({ min: 1, max: 8 }),
        shownIterations: fc.integer({ min: 1, max: 8 }),
        shownCharacters: fc.integer({ min: 1, max: 5_000 }),
      }),
      // The exact counter is slow on such texts.
      count: fc.constantFrom(countTokens, ...Array.from({ length: 7 }, () => estimateTokens)),
    })
    fc.assert(
      fc.property(loops, ({ goal, outputs, summary, roomTokens, iterations, count }) => {
        const loop = loopOf(outputs, { goal, summary: summary === null ? null : state({ summary }) })
        const options = { settings: mergeSettings(defaultSettings, { iterations }), roomTokens, count }
        const laid = layOutLoop(loop, options)
        expect(layOutLoop(loop, options)).toEqual(laid)
        if ('neededTokens' in laid) {
          expect(laid.neededTokens).toBeGreaterThan(roomTokens)
          return
        }
        expect(count(laid.text)).toBeLessThanOrEqual(roomTokens)
        expect(laid.text).toBe(laid.sections.map(({ text }) => text).join('\n\n'))
        expect(loopSectionNames.filter((name) => laid.sections.some((each) => each.name === name))).toEqual(
          laid.sections.map(({ name }) => name),
        )
        const { covered, deferred } = laid.divided
        const placed = [...covered, ...deferred, ...laid.crowdedOut, ...laid.shown.map(({ iteration }) => iteration)]
        expect(placed).toEqual(loop.iterations)
        expect(laid.divided.summary?.coveredCount ?? 0).toBe((loop.summary?.coveredCount ?? 0) + covered.length)
      }),
      { numRuns: 40 },
    )
  })
})
