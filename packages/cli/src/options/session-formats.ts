import type { SessionFormat } from '@heddle/sessions'
import { oneOf } from './option-values.js'

export type FormatOption = SessionFormat | 'auto'

/** A record, so that the compiler reports a missing format. */
const formats: Readonly<Record<FormatOption, true>> = {
  auto: true,
  heddle: true,
  'claude-code': true,
  codex: true,
  opencode: true,
  'gemini-cli': true,
  continue: true,
  cursor: true,
  openai: true,
  anthropic: true,
  'swe-agent': true,
  langsmith: true,
  langfuse: true,
  'open-telemetry': true,
}

/** The formats of sessions, repeated here because the package with the readers is loaded only when a file is read. */
export const sessionFormatNames = Object.keys(formats) as readonly FormatOption[]

export const sessionFormatOption = oneOf('format', sessionFormatNames)
