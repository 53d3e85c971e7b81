import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CHUNK_CHARACTERS_MAX, CHUNK_TOKENS_MAX, chunkText } from './chunking.js'

const texts = (source: string) => chunkText(source).map((chunk) => chunk.text)

/** Texts of all kinds: prose, code, wide scripts, dense runs, odd white space, lone surrogates. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.stringMatching(/^[a-z]{1,12}$/),
      fc.constantFrom(
        ' ',
        '\n',
        '\n\n',
        '\r\n\r\n',
        '\u00a0',
        '. ',
        '! ',
        '。',
        '\u2028',
        '\ud83d\ude00',
        '\udc00',
        '각',
      ),
      fc.stringMatching(/^[0-9a-f]{40}$/),
      fc.nat(900).map((length) => 'x'.repeat(length)),
      fc.nat(300).map((length) => '漢字'.repeat(length)),
    ),
    { maxLength: 120 },
  )
  .map((parts) => parts.join(''))

test('chunks are ranges of the text, in order, that cover all of it except white space', () => {
  fc.assert(
    fc.property(anyText, (source) => {
      let covered = 0
      for (const chunk of chunkText(source)) {
        expect(chunk.text).toBe(source.slice(chunk.from, chunk.to))
        expect(chunk.from).toBeGreaterThanOrEqual(covered)
        expect(source.slice(covered, chunk.from).trim()).toBe('')
        expect(chunk.text.trim()).toBe(chunk.text)
        expect(chunk.text).not.toBe('')
        covered = chunk.to
      }
      expect(source.slice(covered).trim()).toBe('')
    }),
    { numRuns: 500 },
  )
})

test('a chunk has at most 500 characters and at most the punctuation, digits and wide characters that a model reads', () => {
  fc.assert(
    fc.property(anyText, (source) => {
      for (const { text } of chunkText(source)) {
        expect(text.length).toBeLessThanOrEqual(CHUNK_CHARACTERS_MAX)
        const sure = text.normalize('NFD').match(/[\p{P}\p{Nd}\p{Lo}]/gu)?.length ?? 0
        expect(sure).toBeLessThanOrEqual(CHUNK_TOKENS_MAX)
      }
    }),
    { numRuns: 500 },
  )
})

test('a surrogate pair is never split', () => {
  fc.assert(
    fc.property(fc.nat(3), fc.integer({ min: 200, max: 900 }), (shift, count) => {
      for (const { text } of chunkText('a'.repeat(shift) + '😀'.repeat(count))) expect(text.isWellFormed()).toBe(true)
    }),
  )
})

test('a short text is one chunk, and an empty one has no chunks', () => {
  expect(chunkText('  Hello there.\n')).toEqual([{ from: 2, to: 14, text: 'Hello there.' }])
  expect(chunkText('')).toEqual([])
  expect(chunkText(' \n\t ')).toEqual([])
})

test('short paragraphs are joined up to 500 characters, and a paragraph is not split to fill a chunk', () => {
  const paragraph = (word: string) => `${word} `.repeat(30).trim()
  const [first, second, third] = [paragraph('banana'), paragraph('cherry'), paragraph('damson')]
  expect(texts(`${first}\n\n${second}\n\n${third}`)).toEqual([`${first}\n\n${second}`, third])
})

test('a paragraph over 500 characters is cut between its sentences', () => {
  const sentence = (word: string) => `The ${word} was here, and it stayed for a long while "as it should."`
  const words = [
    'apple',
    'banana',
    'cherry',
    'damson',
    'elder',
    'fig',
    'grape',
    'hazel',
    'iris',
    'juniper',
    'kiwi',
    'lemon',
  ]
  const chunks = texts(words.map(sentence).join(' '))
  expect(chunks.length).toBe(2)
  for (const chunk of chunks) expect(chunk).toMatch(/^The .*should\."$/)
})

test('version numbers, decimals and file names do not end a sentence', () => {
  const sentence = `Set it to v1.2.3 in config.yaml and ${'wait a while '.repeat(15).trim()}.`
  const chunks = texts(`${sentence} ${sentence} ${sentence}`)
  for (const chunk of chunks) expect(chunk).toMatch(/^Set it to v1\.2\.3 in config\.yaml/)
})

test('Chinese sentences end without white space and are limited by tokens', () => {
  const sentence = `${'我们今天去公园散步'.repeat(5)}。`
  const chunks = texts(sentence.repeat(20))
  for (const chunk of chunks) {
    expect(chunk.endsWith('。')).toBe(true)
    expect(chunk.length).toBeLessThanOrEqual(CHUNK_TOKENS_MAX)
  }
})

test('a Korean syllable counts as the three letters that it decomposes into', () => {
  for (const chunk of texts('각'.repeat(1000))) expect(chunk.length * 3).toBeLessThanOrEqual(CHUNK_TOKENS_MAX)
})

test('a sentence that is too long is cut at white space, or anywhere in a text without white space', () => {
  for (const chunk of texts('lorem '.repeat(400))) expect(chunk).toMatch(/^(lorem )*lorem$/)
  expect(texts('a'.repeat(1200)).join('')).toBe('a'.repeat(1200))
})

test('English prose fills its chunks', () => {
  const prose =
    'When the gate was opened the water ran down the hill and the people of the village came to look at it. '
  const chunks = texts(prose.repeat(100))
  expect(chunks.slice(0, -1).every((chunk) => chunk.length > 400)).toBe(true)
})

test('a line of 1 MB takes at most a few times as long per character as one of 100 KB', () => {
  const units = ['word ', 'x', 'a\n\n', '. ', '漢', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ', 'y'.repeat(499)]
  for (const unit of units) {
    const small = secondsFor(unit.repeat(100_000 / unit.length))
    const large = secondsFor(unit.repeat(1_000_000 / unit.length))
    expect(large).toBeLessThan(Math.max(small, 0.05) * 60)
  }
})

function secondsFor(text: string): number {
  const startedAt = process.cpuUsage()
  chunkText(text)
  return process.cpuUsage(startedAt).user / 1e6
}
