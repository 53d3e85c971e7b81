const WORDS = 30_000
const CHARACTERS = 461
const SYLLABLES = 'ba ce di fo gu ha ke li mo nu pa re si to vu wa xe yi zo qua stra plen'.split(' ')

/** A text of the length of a chunk, the same for the same number, with word frequencies of a natural language (Zipf). */
export function corpusText(number: number): string {
  const random = generator(number + 1)
  let text = ''
  while (text.length < CHARACTERS) text += `${wordAt(Math.floor(WORDS ** random()) - 1)} `
  return text
}

/** A query of six words: two frequent ones, three less frequent ones, and a rare one. */
export function corpusQuery(number: number): string {
  const random = generator(1_000_003 * (number + 1))
  const between = (from: number, to: number) => wordAt(from + Math.floor(random() * (to - from)))
  return [
    between(20, 60),
    between(20, 200),
    between(200, 2_000),
    between(200, 2_000),
    between(500, 5_000),
    between(5_000, WORDS),
  ].join(' ')
}

function wordAt(rank: number): string {
  let word = ''
  for (let rest = rank + SYLLABLES.length; rest > 0; rest = Math.floor(rest / SYLLABLES.length)) {
    word += SYLLABLES[rest % SYLLABLES.length]
  }
  return word
}

function generator(seed: number): () => number {
  let state = Math.imul(seed, 2_654_435_761) >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
