import type { AtomKind } from '@heddle/contracts'
import type { FileState } from './file-states.js'

/** A detail that cannot be reconstructed once it is lost. */
export interface Atom {
  readonly kind: AtomKind
  /** Equal for the same detail. */
  readonly key: string
  /** Verbatim where a person said it; otherwise the detail in a few words. */
  readonly text: string
  /** Messages that have it, oldest first. */
  readonly references: string[]
  /** The last state of a file, a command or an error; null for other kinds, and for a file that was only named. */
  state: FileState | 'passed' | 'failed' | 'open' | 'solved' | null
}

/** Distinct atoms of one kind; beyond it a report says that it is not complete. */
const ATOMS_A_KIND_MAX = 4_000
/** Messages remembered for each atom, the latest. */
const REFERENCES_MAX = 16

/** The distinct atoms of a conversation, in the order in which they first occurred. */
export class AtomSet {
  readonly #kinds = new Map<AtomKind, Map<string, Atom>>()
  isComplete = true

  /**
   * @param key equal for the same detail
   * @returns null past the bound of its kind
   */
  add(kind: AtomKind, key: string, text: string, reference: string): Atom | null {
    const known = this.#kinds.get(kind) ?? new Map<string, Atom>()
    this.#kinds.set(kind, known)
    const atom = known.get(key) ?? { kind, key, text, references: [], state: null }
    if (!known.has(key)) {
      if (known.size >= ATOMS_A_KIND_MAX) {
        this.isComplete = false
        return null
      }
      known.set(key, atom)
    }
    const { references } = atom
    if (reference !== '' && references.at(-1) !== reference) {
      references.push(reference)
      if (references.length > REFERENCES_MAX) references.shift()
    }
    return atom
  }

  remove(kind: AtomKind, key: string): void {
    this.#kinds.get(kind)?.delete(key)
  }

  of(kind: AtomKind): Atom[] {
    return [...(this.#kinds.get(kind)?.values() ?? [])]
  }
}
