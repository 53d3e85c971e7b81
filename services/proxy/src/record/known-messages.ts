import type { ProviderRequest } from '@heddle/core'

/** A message of a request that is stored. */
export interface KnownMessage {
  /** The entry that it begins with. */
  readonly entry: number
  /** Its identity without its number. */
  readonly key: string
  readonly id: string
}

/** The entries of a request, or its reply, after those that were known before. */
export interface AddedMessages {
  /** The first entry that is new; later ones that were known are gone. */
  readonly from: number
  /** Hashes of the entries. */
  readonly hashes: readonly string[]
  readonly keys: readonly KnownMessage[]
  /** Those of the entries that are not stored, as a whole or in part: not understood, or refused. */
  readonly unstored: readonly number[]
}

/** The messages of a conversation that are stored: in the order of its last request, with its reply. */
export class KnownMessages {
  readonly #hashes: string[] = []
  readonly #keys: KnownMessage[] = []
  /** Also those that are in no entry any longer. */
  readonly #ids = new Set<string>()
  readonly #counts = new Map<string, number>()
  readonly #unstored = new Set<number>()

  /** Entries that are not stored, and will not be: nothing may stand for them. */
  get unstored(): ReadonlySet<number> {
    return this.#unstored
  }

  /** The number of entries. */
  get entries(): number {
    return this.#hashes.length
  }

  /** The messages now; the list does not change later. */
  get list(): readonly KnownMessage[] {
    return [...this.#keys]
  }

  /** Ids of the messages of an entry; the last entries are found at once. */
  idsOf(entry: number): readonly string[] {
    let from = this.#keys.length
    while (from > 0 && (this.#keys[from - 1]?.entry ?? -1) >= entry) from--
    const ids: string[] = []
    for (; this.#keys[from]?.entry === entry; from++) ids.push(this.#keys[from]?.id ?? '')
    return ids
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** The number of first entries that a request repeats. */
  sharedWith({ entries }: ProviderRequest): number {
    let shared = 0
    while (shared < this.#hashes.length && entries[shared]?.hash === this.#hashes[shared]) shared++
    return shared
  }

  /** The number of messages with an identity in the entries before one. */
  countBefore(entry: number, key: string): number {
    if (entry >= this.#hashes.length && (this.#keys.at(-1)?.entry ?? -1) < entry) return this.#counts.get(key) ?? 0
    return this.#keys.filter((known) => known.key === key && known.entry < entry).length
  }

  add({ from, hashes, keys, unstored }: AddedMessages): void {
    this.#hashes.splice(from)
    for (const entry of this.#unstored) if (entry >= from) this.#unstored.delete(entry)
    for (const entry of unstored) this.#unstored.add(entry)
    while ((this.#keys.at(-1)?.entry ?? -1) >= from) this.#forgetLast()
    this.#hashes.push(...hashes)
    for (const known of keys) {
      this.#keys.push(known)
      this.#ids.add(known.id)
      this.#counts.set(known.key, (this.#counts.get(known.key) ?? 0) + 1)
    }
  }

  #forgetLast(): void {
    const { key = '' } = this.#keys.pop() ?? {}
    const count = (this.#counts.get(key) ?? 0) - 1
    if (count > 0) this.#counts.set(key, count)
    else this.#counts.delete(key)
  }
}
