/** A row of a table of an interface: a method or an event, what it does, and the tests that show it. */
export interface InterfaceRow {
  readonly name: string
  /** Parts of titles of tests. */
  readonly tests: readonly string[]
}

/** The rows of the tables of a page whose last column is named `test`. */
export function interfaceRows(page: string): InterfaceRow[] {
  const rows: InterfaceRow[] = []
  let isInside = false
  for (const line of page.split('\n')) {
    const cells = line.startsWith('|') ? line.slice(1, line.lastIndexOf('|')).split('|') : []
    const [name = '', ...more] = cells.map((cell) => cell.trim())
    const last = more.at(-1) ?? ''
    if (cells.length === 0) isInside = false
    else if (last === 'test') isInside = true
    else if (isInside && !/^-+$/.test(name)) rows.push({ name, tests: last.split('; ').filter(Boolean) })
  }
  return rows
}
