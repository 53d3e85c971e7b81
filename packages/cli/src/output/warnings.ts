import type { Printer } from './printer.js'
import { safeText } from './safe-text.js'
import { formatCount } from './table.js'

const WARNINGS_MAX = 5

/** Prints warnings about a result to stderr; with --json the document contains them. */
export function printWarnings(printer: Pick<Printer, 'note'>, warnings: readonly string[]): void {
  for (const warning of warnings.slice(0, WARNINGS_MAX)) printer.note(`warning: ${safeText(warning)}`)
  const more = warnings.length - WARNINGS_MAX
  if (more > 0) printer.note(`warning: and ${formatCount(more)} more like these; --json shows all of them`)
}
