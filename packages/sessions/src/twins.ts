import type { JsonObject } from '@heddle/client/forms'
import { validationError } from '@heddle/contracts'
import { isCursor } from './agents/cursor.js'
import type { SessionFormat } from './parsed.js'

const CLAUDE_CODE_IDS = ['uuid', 'leafUuid']

/** Whether a record has an id that only Claude Code writes. Other clients have a `sessionId`, too. */
export function hasClaudeCodeId(record: JsonObject): boolean {
  return CLAUDE_CODE_IDS.some((field) => typeof record[field] === 'string')
}

/** Formats whose readers would read messages of the other one, but not its calls; each by records that only it has. */
export const twins: readonly { readonly format: SessionFormat; isOf(record: JsonObject): boolean }[] = [
  { format: 'cursor', isOf: isCursor },
  { format: 'claude-code', isOf: hasClaudeCodeId },
]

/**
 * Refuses a format whose reader would understand only a part of the file.
 *
 * @param certain the formats that have a record of their own in the file
 * @throws PermanentError `VALIDATION_ERROR`
 */
export function checkTwin(asked: SessionFormat, certain: ReadonlySet<SessionFormat>): void {
  const isTwin = twins.some(({ format }) => format === asked)
  const other = isTwin && !certain.has(asked) ? twins.find(({ format }) => certain.has(format)) : undefined
  if (other === undefined) return
  throw validationError(
    'format',
    `${asked} is not that of the file, whose records are those of ${other.format}`,
    asked,
    `Leave the format out, or name ${other.format}.`,
  )
}
