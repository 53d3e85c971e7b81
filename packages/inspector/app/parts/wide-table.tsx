import type { ReactNode } from 'react'

interface WideTableProps {
  /** Read out for the table; shown above it with `isCaptioned`. */
  readonly name: string
  /** The headings of its columns; those of figures are above the figures, at the right. */
  readonly columns: readonly (string | { readonly figures: string })[]
  readonly isCaptioned?: boolean
  /** Scrolls after some rows, where more follows below the table. */
  readonly isShort?: boolean
  /** Its rows. */
  readonly children: ReactNode
}

/** A table that a narrow window scrolls sideways, with the keyboard, too. */
export function WideTable({ name, columns, isCaptioned = false, isShort = false, children }: WideTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table only if it can have the focus.
    <section className={isShort ? 'scroll short' : 'scroll'} tabIndex={0} aria-label={name}>
      <table>
        {isCaptioned ? <caption>{name}</caption> : null}
        <thead>
          <tr>
            {columns.map((column) =>
              typeof column === 'string' ? (
                <th key={column} scope="col">
                  {column}
                </th>
              ) : (
                <th key={column.figures} scope="col" className="number">
                  {column.figures}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}
