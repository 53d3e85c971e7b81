import { randomOf } from '@heddle/test-support/random'

/** Random choices that a seed determines: the same seed makes the same input on every machine. */
export class Random {
  /** From 0 up to 1, exclusive. */
  readonly fraction: () => number

  constructor(seed: number, stream = 0) {
    // Multiplied apart, so that neighbouring streams are unrelated.
    this.fraction = randomOf(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(stream + 1, 0xc2b2ae35))
  }

  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1))
  }

  /** True once in this many calls. */
  oneIn(times: number): boolean {
    return this.fraction() * times < 1
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.whole(0, values.length - 1)] as Value
  }

  list<Value>(least: number, most: number, make: () => Value): Value[] {
    return Array.from({ length: this.whole(least, most) }, make)
  }

  /** A UUID of the given version's form; so many of its digits are random that two are never the same by chance. */
  uuid(version = 7): string {
    const digits = (count: number) =>
      this.whole(0, 16 ** count - 1)
        .toString(16)
        .padStart(count, '0')
    return `${digits(8)}-a1b2-${version}c3d-a4e5-${digits(12)}`
  }
}
