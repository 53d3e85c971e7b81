import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PassageCutter } from './passages.js'

const cutAll = (texts: readonly string[]) => {
  const cutter = new PassageCutter()
  return texts.flatMap((text) => Array.from(cutter.cut(text), (piece) => ({ piece, passage: cutter.number })))
}

test('every character is in one piece, and pieces are bounded', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 3_000 }), { maxLength: 5 }), (texts) => {
      const pieces = cutAll(texts)
      expect(pieces.map(({ piece }) => piece).join('')).toBe(texts.join(''))
      for (const { piece } of pieces) expect(piece.length).toBeLessThanOrEqual(450)
    }),
  )
})

test('a passage ends with a line or a sentence, and short texts share one', () => {
  const sentence = `${'a word '.repeat(40)}ends here. `
  const pieces = cutAll(['Read', 'src/loom.ts', sentence + sentence])
  expect(pieces.map(({ passage }) => passage)).toEqual([0, 0, 0, 1])
  expect(pieces[2]?.piece.endsWith('ends here. ')).toBe(true)
})
