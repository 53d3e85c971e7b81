export interface Rouge {
  readonly rouge1: number
  readonly rouge2: number
  readonly rougeL: number
}

/** Words of a text for the comparison: lower case, letters and digits, without stemming. */
function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/** F1 of shared words, shared pairs of neighbours and the longest common subsequence (Lin 2004), each from 0 to 1. */
export function rouge(text: string, reference: string): Rouge {
  const [own, wanted] = [wordsOf(text), wordsOf(reference)]
  return {
    rouge1: shared(own, wanted),
    rouge2: shared(pairsOf(own), pairsOf(wanted)),
    rougeL: f1(longestCommonSubsequence(own, wanted), own.length, wanted.length),
  }
}

function pairsOf(words: readonly string[]): string[] {
  return words.slice(1).map((word, index) => `${words[index]} ${word}`)
}

function shared(own: readonly string[], wanted: readonly string[]): number {
  const left = new Map<string, number>()
  for (const gram of wanted) left.set(gram, (left.get(gram) ?? 0) + 1)
  let hits = 0
  for (const gram of own) {
    const count = left.get(gram) ?? 0
    if (count === 0) continue
    hits++
    left.set(gram, count - 1)
  }
  return f1(hits, own.length, wanted.length)
}

function f1(hits: number, own: number, wanted: number): number {
  return hits === 0 ? 0 : (2 * hits) / (own + wanted)
}

function longestCommonSubsequence(own: readonly string[], wanted: readonly string[]): number {
  let before = new Uint32Array(wanted.length + 1)
  let row = new Uint32Array(wanted.length + 1)
  for (const word of own) {
    for (let at = 1; at <= wanted.length; at++) {
      row[at] = word === wanted[at - 1] ? (before[at - 1] ?? 0) + 1 : Math.max(before[at] ?? 0, row[at - 1] ?? 0)
    }
    ;[before, row] = [row, before]
  }
  return before[wanted.length] ?? 0
}
