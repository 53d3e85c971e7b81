import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { sampleIteration as anIteration } from '../../../../test/support/src/samples/iterations.js'
import { summarizeExtractively } from '../summarizing/summarize.js'
import { countTokens } from '../tokens/tokens.js'
import { withEmptyNote } from './empty-note.js'
import { emptyOf, formatIteration, progressParts, progressRequest } from './progress-request.js'

const odd = (from: number, to: number) => Array.from({ length: (to - from) / 2 + 1 }, (_, index) => from + 2 * index)

const summarize = (outputs: readonly string[], options: { previousSummary?: string; tokensMax?: number } = {}) =>
  summarizeExtractively(
    progressRequest(
      outputs.map((output, index) => anIteration({ number: index + 1, output })),
      { previousSummary: options.previousSummary ?? null, tokensMax: options.tokensMax ?? 2_000 },
    ),
  )

describe('a progress summary without a model', () => {
  test('keeps decisions, what worked, what failed, the state and the next steps, each with its iteration', () => {
    const summary = summarize([
      'I chose JWT over sessions because the API is stateless.',
      '<progress>Using bcrypt for password hashing works now.</progress>',
      'Redis caching caused issues, reverted.',
      'Login endpoint complete in src/login.ts.\nNext: need to implement refresh tokens.',
    ])
    expect(summary).toBe(
      [
        '## Key decisions',
        '- I chose JWT over sessions because the API is stateless. (iteration 1)',
        '',
        '## Working approaches',
        '- Using bcrypt for password hashing works now. (iteration 2)',
        '',
        '## Failed approaches',
        '- Redis caching caused issues, reverted. (iteration 3)',
        '',
        '## Current state',
        '- Login endpoint complete in src/login.ts. (iteration 4)',
        '',
        '## Next steps',
        '- Next: need to implement refresh tokens. (iteration 4)',
      ].join('\n'),
    )
  })

  test('carries on the contents of an earlier summary', () => {
    const previousSummary = summarize(['I chose JWT over sessions because the API is stateless.', ''])
    const summary = summarize(['Logout is done in src/logout.ts.'], { previousSummary })
    expect(summary).toContain('I chose JWT over sessions because the API is stateless. (iteration 1)')
    expect(summary).toContain('Logout is done in src/logout.ts.')
    expect(summary).toContain('Iterations without output: 2')
  })

  test('notes iterations without output', () => {
    expect(summarize(['', 'The parser works now.', '  \n'])).toContain('Iterations without output: 1, 3')
    expect(summarize([''])).toBe('Iterations without output: 1')
  })

  test('notes iterations without output if the summary is cut, and counts those that it does not name', () => {
    const outputs = Array.from({ length: 60 }, (_, at) => (at % 2 === 0 ? '' : `Decided on ${'x'.repeat(40)} ${at}.`))
    expect(summarize(outputs)).toContain(`Iterations without output: ${odd(21, 59).join(', ')} and 10 before`)
    const short = summarize(outputs, { tokensMax: 60 })
    expect(short).toContain('Iterations without output: 51, 53, 55, 57, 59 and 25 before')
    expect(summarize([''], { previousSummary: short })).toMatch(/Iterations without output: 1, .* and 25 before|in all/)
  })

  test.each([
    ['a model that says nothing of it', 'The login is done.', 'The login is done.\n\nIterations without output: 2, 4'],
    [
      'one that repeats the old note',
      'Done.\nIterations without output: 2',
      'Done.\n\nIterations without output: 2, 4',
    ],
  ])('has the note from %s', (_, written, whole) => {
    const empty = emptyOf([anIteration({ number: 4, output: ' ' })], 'Iterations without output: 2')
    expect(withEmptyNote(written, empty, 2_000)).toBe(whole)
    expect(countTokens(withEmptyNote('word '.repeat(300), empty, 50))).toBeLessThanOrEqual(50)
  })

  test('lists a repeated error once', () => {
    const summary = summarize(Array.from({ length: 9 }, (_, at) => `The build failed with error ${at} in src/main.ts.`))
    expect(summary.match(/build failed/g)).toHaveLength(1)
    expect(summary).toContain('(iteration 9)')
  })

  test('leaves verbose output out', () => {
    const log = Array.from({ length: 100 }, (_, at) => `{"level":"debug","line":${at}}`).join('\n')
    expect(summarize([`${log}\n<progress>All tests pass.</progress>`])).toBe(
      '## Working approaches\n- All tests pass. (iteration 1)',
    )
  })

  test('leaves out debugging, and code that is in the files', () => {
    const output = [
      'DEBUG: the token of src/login.ts is abc123 and its age is 4.',
      "console.log('the token of src/login.ts is here')",
      'Temporary debugging: I added print statements to src/login.ts.',
      '```ts',
      'export function login(user: string) {',
      '  return sign({ sub: user }, SECRET)',
      '}',
      '```',
      '+++ b/src/login.ts',
      '@@ -1,3 +1,4 @@ export function login(user: string)',
      'I implemented the login endpoint in src/login.ts and its 4 tests pass.',
    ].join('\n')
    expect(summarize([output])).toBe(
      '## Working approaches\n- I implemented the login endpoint in src/login.ts and its 4 tests pass. (iteration 1)',
    )
  })

  test('lists log lines that differ only in numbers once', () => {
    const log = Array.from({ length: 60 }, (_, at) => `✓ case ${at} of the login suite (${at % 7} ms)`).join('\n')
    expect(summarize([log]).match(/login suite/g)).toHaveLength(1)
  })

  test('finds the progress at the end of an output, after the point where the output is cut', () => {
    const output = `${'verbose '.repeat(2_000)}\n<progress>All tests pass.</progress>`
    expect(summarize([output])).toContain('- All tests pass. (iteration 1)')
  })

  test('is never longer than allowed, never empty, and the same each time', () => {
    const output = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.lorem({ maxCount: 12, mode: 'sentences' }),
      fc.constantFrom('', '<progress>Login works.</progress>', 'Decided to use x instead of y. Next: need to test it.'),
    )
    fc.assert(
      fc.property(
        fc.array(output, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 300 }),
        (outputs, tokensMax) => {
          const previousSummary = summarize(outputs.slice(1))
          const summary = summarize(outputs, { previousSummary, tokensMax })
          expect(countTokens(summary)).toBeLessThanOrEqual(tokensMax)
          expect(summary).not.toBe('')
          expect(summarize(outputs, { previousSummary, tokensMax })).toBe(summary)
        },
      ),
      { numRuns: propertyRuns(20) },
    )
  })
})

describe('the request to a summarizer', () => {
  test('names each iteration with its facts, cut as contexts cut them, and without tool protocol markup', () => {
    const iteration = anIteration({
      number: 7,
      cliUsed: 'codex',
      modelUsed: 'gpt-5-mini',
      prompt: `go on ${'p'.repeat(600)}`,
      output: `${'o'.repeat(5_000)}cut`,
      progressScore: 0.5,
      progressMarkers: ['login works'],
      fileChanges: ['src/login.ts'],
      durationSeconds: 12.5,
    })
    expect(formatIteration(iteration)).toBe(
      [
        '## Iteration 7 (codex, gpt-5-mini, 2026-02-12T14:30:00.000Z, score 0.5, 12.5 s)',
        `Prompt: go on ${'p'.repeat(494)}`,
        'Progress markers: login works',
        'Changed files: src/login.ts',
        'Output:',
        'o'.repeat(5_000),
        '[… the rest was left out …]',
      ].join('\n'),
    )
    const request = progressRequest([anIteration({ output: '<invoke name="x">' })], {
      previousSummary: 'before',
      tokensMax: 100,
    })
    expect(request).toMatchObject({ purpose: 'progress', previousSummary: 'before', tokensMax: 100 })
    expect(request.messages[0]?.text).toContain('‹invoke')
  })

  test('is split into parts if the iterations are too long to be read at once, without losing one', () => {
    const iterations = Array.from({ length: 60 }, (_, at) => anIteration({ number: at + 1, output: 'o'.repeat(5_000) }))
    const parts = progressParts(iterations)
    expect(parts.length).toBeGreaterThan(1)
    expect(parts.flat()).toEqual(iterations)
    for (const part of parts) {
      expect(part.map(formatIteration).join('').length).toBeLessThanOrEqual(100_000)
    }
  })
})
