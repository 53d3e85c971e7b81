import { languageOf } from './replaced.js'
import type { InstructionWords } from './takings-back.js'

/** Instructions that hold, by their numbers, found by their words: of thousands, comparing each with each takes seconds. */
export class HeldInstructions {
  readonly #words = new Map<number, InstructionWords>()
  readonly #byWanted = new Map<string, Set<number>>()
  readonly #byLanguage = new Map<string, Set<number>>()
  readonly #byWord = new Map<string, Set<number>>()

  add(number: number, words: InstructionWords): void {
    this.#words.set(number, words)
    for (const [index, key] of this.#keysOf(words)) index.set(key, (index.get(key) ?? new Set()).add(number))
  }

  delete(number: number): void {
    const words = this.#words.get(number)
    if (words === undefined) return
    this.#words.delete(number)
    for (const [index, key] of this.#keysOf(words)) {
      const numbers = index.get(key)
      numbers?.delete(number)
      if (numbers?.size === 0) index.delete(key)
    }
  }

  wordsOf(number: number): InstructionWords | undefined {
    return this.#words.get(number)
  }

  /** Those that a later instruction may replace: with the same words and the opposite wish, or for another language. */
  comparableTo(later: InstructionWords): number[] {
    const opposites = this.#byWanted.get(wantedKey(later, !later.isProhibition)) ?? []
    const language = languageOf(later)
    if (language === null) return [...opposites]
    const others = [...this.#byLanguage].flatMap(([other, numbers]) => (other === language ? [] : [...numbers]))
    return [...opposites, ...others]
  }

  /** Those that can have all of these words: the ones with the rarest of them. */
  withRarestOf(words: ReadonlySet<string>): number[] {
    const [rarest] = [...words]
      .map((word) => this.#byWord.get(word) ?? new Set<number>())
      .sort((a, b) => a.size - b.size)
    return [...(rarest ?? [])]
  }

  *#keysOf(words: InstructionWords): Generator<[index: Map<string, Set<number>>, key: string]> {
    yield [this.#byWanted, wantedKey(words, words.isProhibition)]
    const language = languageOf(words)
    if (language !== null) yield [this.#byLanguage, language]
    for (const word of new Set([...words.topics, ...words.wanted])) yield [this.#byWord, word]
  }
}

/** Words in their order: "merge main into dev" is not "merge dev into main". */
function wantedKey({ wanted }: InstructionWords, isProhibition: boolean): string {
  return JSON.stringify([isProhibition, ...wanted])
}
