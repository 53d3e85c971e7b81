import type { Database } from '../placement/databases.js'

/** Tables whose rows come and go or grow in many places at once; `heddle.shrink_table` knows no others. */
const shrinkable = [
  'messages',
  'message_tokens',
  'posting_blocks',
  'posting_segments',
  'vectors',
  'events',
  'stage_cursors',
] as const
type ShrinkableTable = (typeof shrinkable)[number]

/** A smaller table is not worth it. */
const BYTES_MIN = 131_072
/** A table, or an index of messages, of this size is locked for a tenth of a second while it is written anew. */
const BYTES_MAX = 16_777_216

interface Look {
  readonly writes: number
  /** Whether the table was found as small as it gets after these writes. */
  readonly isDone: boolean
}

/**
 * Gives the space of rows that are gone back to the disk, of small tables to which nothing was written since the last call: a
 * table in use fills that space again by itself. For housekeeping.
 */
export class TableShrinker {
  readonly #looks = new Map<ShrinkableTable, Look>()

  constructor(readonly database: Pick<Database, 'asReconciler'>) {}

  /** @returns how many tables shrank */
  async shrink(signal: AbortSignal): Promise<number> {
    let shrunk = 0
    for (const table of shrinkable) {
      signal.throwIfAborted()
      const before = this.#looks.get(table)
      const bytesMax = before?.isDone === true ? 0 : BYTES_MAX
      const [found] = await this.database.asReconciler(
        (tx) => tx<{ writes: number; isShrunk: boolean | null }[]>`
          select writes, is_shrunk from heddle.shrink_table(
            ${table}, ${before?.writes ?? -1}::bigint, ${BYTES_MIN}::bigint, ${bytesMax}::bigint)`,
      )
      if (found === undefined) continue
      const { writes, isShrunk } = found
      this.#looks.set(table, { writes, isDone: writes === before?.writes && isShrunk === false })
      if (isShrunk === true) shrunk++
    }
    return shrunk
  }
}
