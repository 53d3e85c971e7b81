import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFileName, namesIn } from './names.js'

/** The rule in expressions, which make a text of each word. */
function plainNamesIn(text: string): string[] {
  const names = new Set<string>()
  const isIdentifier = (word: string) =>
    word.length >= 4 &&
    /^[A-Za-z_]/.test(word) &&
    /[A-Za-z0-9]_+[A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}/.test(word) &&
    !/\d[A-Za-z]+\d/.test(word)
  for (const run of text.replace(/\\[nrt]/g, ' ').match(/[\w@.][\w.@-]*/g) ?? []) {
    const token = run.replace(/[.@-]+$/, '')
    if (token.length > 60 || token.length < 4 || !/.[A-Z_.]/.test(token)) continue
    if (token.includes('.') && isFileName(token)) names.add(token)
    else if (!/[.-]/.test(token) && isIdentifier(token)) names.add(token)
    else if (/[.-]/.test(token))
      for (const word of token.match(/[A-Za-z_]\w+/g) ?? []) if (isIdentifier(word)) names.add(word)
  }
  return [...names]
}

test('names are found in the order of the text, whatever is between them', () => {
  expect([
    ...namesIn('In src/time-zone.ts parseTime() calls time_of.readZone; --dryRun, v1.2, see README.md...'),
  ]).toEqual(['time-zone.ts', 'parseTime', 'time_of', 'readZone', 'dryRun', 'README.md'])
})

test('the loop over characters finds what expressions find', () => {
  const part = fc.oneof(
    fc.constantFrom(
      'a',
      'Z',
      '_',
      '.',
      '-',
      '@',
      '1',
      ' ',
      '\n',
      '\\n',
      '/',
      'é',
      '漢',
      '\u{1f600}',
      '.ts',
      'fooBar',
      'MAX_ID',
    ),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
      expect([...namesIn(parts.join(''))]).toEqual(plainNamesIn(parts.join('')))
    }),
    { numRuns: 2_000 },
  )
})
