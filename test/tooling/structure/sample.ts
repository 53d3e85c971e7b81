import { randomOf } from '@heddle/test-support/random'
import type { Text, TextKind } from './texts.js'

/** The kinds of a sample, which has as many texts of each; titles and pages are left out. */
const KINDS: readonly (readonly TextKind[])[] = [['comment', 'docstring'], ['help'], ['log'], ['error']]
/** Less is a label. */
const WORDS_MIN = 4

/** Texts of the sources drawn at random, as many of each kind; the same seed draws the same from the same texts. */
export function sampleOf(texts: readonly Text[], count: number, seed: number): readonly Text[] {
  const random = randomOf(seed)
  const readable = texts.filter(
    ({ text, path }) =>
      /^(packages|services)\//.test(path) && !path.endsWith('.test.ts') && text.split(' ').length >= WORDS_MIN,
  )
  return KINDS.flatMap((kinds, index) => {
    const pool = readable.filter(({ kind }) => kinds.includes(kind))
    const share = Math.floor((count * (index + 1)) / KINDS.length) - Math.floor((count * index) / KINDS.length)
    return Array.from({ length: Math.min(share, pool.length) }, () =>
      pool.splice(Math.floor(random() * pool.length), 1),
    ).flat()
  })
}
