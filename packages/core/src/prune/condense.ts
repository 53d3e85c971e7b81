import { recallTag } from '../conversation/references.js'
import type { ToolUse } from '../tools/catalog.js'
import { oneLine, truncate } from '../tools/lines.js'
import type { ToolOutcome } from '../tools/results.js'

/** Limits on commands and summaries in condensed lines. */
const COMMAND_CHARACTERS_MAX = 50
const SUMMARY_CHARACTERS_MAX = 80
/** Names come from models, so they are limited too. */
const NAME_CHARACTERS_MAX = 200

/** The inputs of a condensed line. */
export interface CondenseParts {
  readonly use: ToolUse | null
  readonly outcome: ToolOutcome | null
  readonly summary: string
  /** The reference under which the full content can be recalled: `msg-xxxxxxxx`. */
  readonly reference: string
}

/**
 * The line that replaces a message, in the forms of docs/pruning.md. If the call lacks a needed field, or an edit or
 * search failed, the general form is used: a failure must not read as a success.
 */
export function condensedLine({ use, outcome, summary, reference }: CondenseParts): string {
  const tag = recallTag(reference)
  const path = outcome?.path ?? use?.path ?? null
  const failed = outcome?.failed ?? false
  if (use?.kind === 'file_view' && path !== null) return `📁 Viewed ${named(path)} - ${oneLine(summary)} ${tag}`
  if (use?.kind === 'grep' && use.pattern !== null && !failed) {
    const matches = outcome?.matchCount ?? 0
    return `🔍 Searched '${named(use.pattern)}' in ${named(use.searchPath ?? '.')} - ${matches} matches ${tag}`
  }
  if (use?.kind === 'bash' && use.command !== null) {
    const command = truncate(oneLine(use.command), COMMAND_CHARACTERS_MAX)
    return `⚡ Ran: ${command} - ${outcome?.exitStatus ?? 'ok'} ${tag}`
  }
  if (use?.kind === 'edit' && path !== null && !failed) return `✏️ Edited ${named(path)} ${tag}`
  return `📝 ${truncate(oneLine(summary), SUMMARY_CHARACTERS_MAX)} ${tag}`
}

/** The line that replaces a removed result whose call had to stay: a failure still states its error. */
export function stubLine(reason: string, { use, outcome, summary, reference }: CondenseParts): string {
  const path = outcome?.path ?? use?.path ?? null
  const other = truncate(oneLine(use?.command ?? use?.pattern ?? ''), COMMAND_CHARACTERS_MAX)
  const subject = path === null ? other : named(path)
  const failure = outcome?.failed && summary !== '' ? `, ${truncate(oneLine(summary), SUMMARY_CHARACTERS_MAX)}` : ''
  return `📝 Removed${subject === '' ? '' : ` (${subject})`}: ${reason}${failure} ${recallTag(reference)}`
}

function named(name: string): string {
  return truncate(oneLine(name), NAME_CHARACTERS_MAX)
}
