import { validationError } from '@heddle/contracts'
import { HashTable } from './hash-table.js'

/** The records so far that name themselves, by their names, and what each said. */
export class Repeats {
  readonly #seen = new HashTable()

  /**
   * @param name what the record's field `field` says, of records in one list
   * @returns whether the record is there a second time
   * @throws PermanentError `VALIDATION_ERROR` where the name was given to another one
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
    throw validationError(place, `${field} was given to another message at ${placeBefore}`, name)
  }
}

/** Places in one list differ in the number that they end with. */
export function numberOf(place: string): number {
  return Number(/\d+$/.exec(place)?.[0] ?? 0)
}
