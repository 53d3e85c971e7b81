import { validationError } from '@heddle/contracts'
import { HashTable } from './hash-table.js'

/** The records with a name so far, and their contents. */
export class Repeats {
  readonly #seen = new HashTable()

  /**
   * @param name value of the record's field `field`, for records in one list
   * @returns whether the record is a repeat
   * @throws PermanentError `VALIDATION_ERROR` if another record has the name
   */
  isRepeat(place: string, { field, name, content }: { field: string; name: string; content: string }): boolean {
    const said = JSON.stringify([name, content])
    const earlier = this.#seen.get(name)
    if (earlier === undefined) {
      this.#seen.set(name, numberOf(place))
      this.#seen.set(said, 0)
      return false
    }
    if (this.#seen.has(said)) return true
    const placeBefore = place.replace(/\d+$/, String(earlier))
    throw validationError(place, `${field} is also that of another message at ${placeBefore}`, name)
  }
}

/** Places in one list differ only in the number at their end. */
export function numberOf(place: string): number {
  return Number(/\d+$/.exec(place)?.[0] ?? 0)
}
