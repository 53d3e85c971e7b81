import type { Subject } from './subjects.js'

/** Where a name occurred, ordered by how strongly that suggests it will be needed. */
export type Mention = 'asked' | 'said' | 'edited' | 'called' | 'failed' | 'shown'

interface NameRecord {
  messages: number
  place: number
  readonly mentions: Set<Mention>
  /** Strength of its tie to each subject. */
  readonly homes: Map<Subject, number>
}

/** Distinct names stored, and subjects per name; bounds memory. */
const NAMES_MAX = 20_000
const HOMES_MAX = 12

const MENTION_WEIGHTS: Readonly<Record<Mention, number>> = {
  asked: 1,
  said: 1,
  edited: 1.5,
  called: 0.3,
  failed: 0.5,
  shown: 0,
}
/** Extra weight of the newest message over the oldest. */
const RECENCY_WEIGHT = 2

/** All names of a conversation: how often, how recently and where they were used. */
export class NameIndex {
  private readonly records = new Map<string, NameRecord>()

  add(names: Iterable<string>, mention: Mention, place: number): void {
    for (const name of names) {
      const record = this.records.get(name) ?? this.open(name)
      if (!record) continue
      if (record.place !== place) record.messages++
      record.place = place
      record.mentions.add(mention)
    }
  }

  /** Ties a name to the subject in which it occurred. */
  tie(name: string, subject: Subject, strength: number): void {
    const homes = this.records.get(name)?.homes
    if (!homes) return
    const before = homes.get(subject)
    if (before !== undefined || homes.size < HOMES_MAX) homes.set(subject, (before ?? 0) + strength)
  }

  /** How likely the continuing work needs a name; 0 for an unknown name. */
  weight(name: string, length: number): number {
    const record = this.records.get(name)
    if (!record) return 0
    let weight = Math.log1p(record.messages) + (RECENCY_WEIGHT * (record.place + 1)) / length
    for (const mention of record.mentions) weight += MENTION_WEIGHTS[mention]
    return weight
  }

  /** The names with their subjects, the strongest ties first. */
  *homes(): Iterable<readonly [name: string, homes: readonly Subject[]]> {
    for (const [name, { homes }] of this.records) {
      const ranked = [...homes].sort((left, right) => right[1] - left[1])
      if (ranked.length > 0) yield [name, ranked.map(([subject]) => subject)]
    }
  }

  private open(name: string): NameRecord | null {
    if (this.records.size >= NAMES_MAX) return null
    const record: NameRecord = { messages: 0, place: -1, mentions: new Set(), homes: new Map() }
    this.records.set(name, record)
    return record
  }
}
