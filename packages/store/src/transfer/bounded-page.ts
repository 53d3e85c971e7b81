import type { PendingQuery, Row } from 'postgres'
import type { Tx } from '../connection/connection.js'

/** Bytes that one page of an export holds, besides its last row; a row alone may be larger. */
export const EXPORT_PAGE_BYTES_MAX = 8_000_000

type Fragment = PendingQuery<Row[]>

/**
 * The first rows of a page, as many as its bytes allow and one at least: rows of any size stand in memory together.
 *
 * @param rows a query that gives `json` and `place`, the place of a row in the page from 1
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

/** Whether nothing comes after the rows of a page. */
export function isLastPage(rows: readonly { readonly found: number }[], rowsMax: number): boolean {
  const found = rows[0]?.found ?? 0
  return rows.length === found && found < rowsMax
}
