import type { SessionFormat } from '@heddle/sessions'
import { oneOf } from './option-values.js'

export type FormatOption = SessionFormat | 'auto'

/** A record, so that a format which the importers learn and this list lacks does not compile. */
const formats: Readonly<Record<FormatOption, true>> = {
  auto: true,
  heddle: true,
  'claude-code': true,
  openai: true,
  anthropic: true,
  'swe-agent': true,
}

/** The formats of sessions. Named here and not taken from the client, which is loaded only when a file is read. */
export const sessionFormatNames = Object.keys(formats) as readonly FormatOption[]

export const sessionFormatOption = oneOf('format', sessionFormatNames)
