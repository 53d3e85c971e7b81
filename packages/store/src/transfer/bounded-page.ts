import type { PendingQuery, Row } from 'postgres'
import type { Tx } from '../connection/connection.js'

/** Bytes of one page of an export, without its last row; a single row may be larger. */
export const EXPORT_PAGE_BYTES_MAX = 8_000_000

type Fragment = PendingQuery<Row[]>

/**
 * The first rows of a page, as many as its bytes allow and at least one: the page is held in memory, and rows may be large.
 *
 * @param rows a query with the columns `json` and `place`, the place of a row in the page, starting at 1
 */
export function withinPageBytes(tx: Tx, rows: Fragment): Fragment {
  return tx`
    select * from (
      select page.*, count(*) over ()::integer as found,
        coalesce(sum(octet_length(page.json)) over (order by page.place rows between unbounded preceding and 1 preceding), 0)
          as bytes_before
      from (${rows}) as page) as sized
    where bytes_before < ${EXPORT_PAGE_BYTES_MAX}
    order by place`
}

export function isLastPage(rows: readonly { readonly found: number }[], rowsMax: number): boolean {
  const found = rows[0]?.found ?? 0
  return rows.length === found && found < rowsMax
}
