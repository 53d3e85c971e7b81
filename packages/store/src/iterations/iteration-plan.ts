import type { IterationFields } from '@heddle/contracts'

/** A stored iteration with one of the given ids or numbers. */
export interface KnownIteration {
  readonly id: string
  readonly number: number
}

export interface KnownNumbers {
  readonly known: readonly KnownIteration[]
  /** The highest number of the thread; 0 without iterations. */
  readonly highest: number
}

/** An iteration of an append: the output is its message. */
export interface GivenIteration {
  readonly id: string
  readonly iteration: Pick<IterationFields, 'iterationNumber'>
}

/** The numbers of a thread's iterations, while appends to it are planned. Pure. */
export class IterationNumbers {
  readonly #byId: Map<string, number>
  readonly #byNumber: Map<number, string>
  #highest: number

  constructor({ known, highest }: KnownNumbers = { known: [], highest: 0 }) {
    this.#byId = new Map(known.map(({ id, number }) => [id, number]))
    this.#byNumber = new Map(known.map(({ id, number }) => [number, id]))
    this.#highest = highest
  }

  /** A copy, for an append that may be refused. */
  copy(): IterationNumbers {
    const known = [...this.#byId].map(([id, number]) => ({ id, number }))
    return new IterationNumbers({ known, highest: this.#highest })
  }

  /** Whether a repeated iteration is without a number, or has the one that it got. */
  isRepeat({ id, iteration: { iterationNumber } }: GivenIteration): boolean {
    return iterationNumber === undefined || iterationNumber === this.#byId.get(id)
  }

  /**
   * The number of a new iteration: the given one, or the next after the highest. It is taken from then on.
   *
   * @returns null if another iteration has the given number
   */
  take({ id, iteration: { iterationNumber } }: GivenIteration): number | null {
    const number = iterationNumber ?? this.#highest + 1
    if (this.#byNumber.has(number)) return null
    this.#highest = Math.max(this.#highest, number)
    this.#byId.set(id, number)
    this.#byNumber.set(number, id)
    return number
  }
}
