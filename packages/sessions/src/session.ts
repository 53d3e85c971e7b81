import { countSkipped } from '@heddle/client/forms'
import { PermanentError, validationError } from '@heddle/contracts'
import { readContinue } from './agents/continue.js'
import { readCursor } from './agents/cursor.js'
import { readGeminiCli } from './agents/gemini-cli.js'
import { readOpenCode } from './agents/opencode.js'
import { readAnthropic } from './anthropic.js'
import type { ByteSource } from './byte-source.js'
import { readClaudeCode } from './claude-code.js'
import { readCodex } from './codex.js'
import { type Survey, surveyOf, unknownFormat } from './detect.js'
import { detailsOf } from './fault-details.js'
import { Finisher } from './finish.js'
import { readHeddle } from './heddle.js'
import { readOpenAi } from './openai.js'
import type { ParsedMessage, Reading, ReadingOptions, SessionFormat } from './parsed.js'
import { readSource, type Source } from './source.js'
import { readSweAgent } from './swe-agent.js'
import { readLangfuse } from './traces/langfuse.js'
import { readLangSmith } from './traces/langsmith.js'
import { readOpenTelemetry } from './traces/open-telemetry.js'
import { checkTwin } from './twins.js'

const readers: Readonly<Record<SessionFormat, (source: Source, options: ReadingOptions) => Reading>> = {
  heddle: readHeddle,
  'claude-code': readClaudeCode,
  codex: readCodex,
  opencode: readOpenCode,
  'gemini-cli': readGeminiCli,
  continue: readContinue,
  cursor: readCursor,
  openai: readOpenAi,
  anthropic: readAnthropic,
  'swe-agent': readSweAgent,
  langsmith: readLangSmith,
  langfuse: readLangfuse,
  'open-telemetry': readOpenTelemetry,
}

export interface ReadSessionOptions {
  /** For error messages only. */
  readonly fileName: string
  readonly format: SessionFormat | 'auto'
}

/** A scanned recorded session: its threads, and its messages, which can be read repeatedly. */
export interface Session {
  readonly format: SessionFormat
  /** In the order of the file; each with the number that its messages refer to. */
  readonly threads: readonly SessionThread[]
  /** Records that are not messages, by kind: `{ "system/turn_duration": 16, "unfinished last line": 1 }`. */
  readonly skipped: Readonly<Record<string, number>>
  /** Reads the file once more. Messages of one thread are in order; those of several threads may alternate. */
  messages(): Generator<SessionMessage>
}

export interface SessionMessage {
  readonly thread: number
  readonly message: ParsedMessage
}

export interface SessionThread {
  readonly number: number
  /** Distinguishes the names of the threads of one file; null for a file's main or only thread. */
  readonly suffix: string | null
  readonly messages: number
  readonly toolCalls: number
  readonly toolResults: number
}

/**
 * Scans a recorded session of any length, several times, without ever loading it as a whole: all of it is checked.
 *
 * @returns yields regularly, so that the process can serve others
 * @throws PermanentError `VALIDATION_ERROR` or `PAYLOAD_TOO_LARGE`; its field names the place, such as `line 12`
 */
export function* readSession(bytes: ByteSource, options: ReadSessionOptions): Generator<undefined, Session> {
  return yield* naming(options.fileName, lookThrough(bytes, options))
}

function* lookThrough(bytes: ByteSource, { fileName, format: asked }: ReadSessionOptions) {
  const source = readSource(bytes)
  const survey = yield* surveyOf(source)
  const format = asked === 'auto' ? survey.format : asked
  if (format === null) throw unknownFormat(survey.shape)
  checkTwin(format, survey.certain)
  const { holdsLists } = survey
  const skipped = new Map<string, number>()
  const threads = new Map<number, { -readonly [Key in keyof SessionThread]: SessionThread[Key] }>()
  const reading = readers[format](source, { holdsLists, skipped })
  const finisher = new Finisher()
  for (const draft of reading.drafts) {
    const { input } = finisher.finish(draft)
    const { thread: number } = draft
    const thread = threads.get(number) ?? { number, suffix: null, messages: 0, toolCalls: 0, toolResults: 0 }
    threads.set(number, thread)
    thread.messages++
    thread.toolCalls += input.toolCalls?.length ?? 0
    if (input.role === 'tool_result') thread.toolResults++
    yield
  }
  if (source.isUnfinished) countSkipped(skipped, 'unfinished last line')
  if (threads.size === 0) throw withoutMessages(format, survey, skipped)
  const messages = () => naming(fileName, messagesOf(bytes, format, holdsLists))
  return {
    format,
    threads: [...threads.values()]
      .sort((left, right) => left.number - right.number)
      .map((thread) => ({ ...thread, suffix: reading.suffixOf(thread.number) })),
    skipped: Object.fromEntries(skipped),
    messages,
  }
}

function* messagesOf(
  bytes: ByteSource,
  format: SessionFormat,
  holdsLists: boolean,
): Generator<SessionMessage, undefined> {
  const finisher = new Finisher()
  const { drafts } = readers[format](readSource(bytes), { holdsLists, skipped: new Map() })
  for (const draft of drafts) yield { thread: draft.thread, message: finisher.finish(draft) }
}

function* naming<Item, Result>(fileName: string, items: Generator<Item, Result>): Generator<Item, Result> {
  try {
    return yield* items
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error
    throw new PermanentError(error.code, `${fileName}: ${error.message}`, detailsOf(error))
  }
}

function withoutMessages(format: SessionFormat, survey: Survey, skipped: ReadonlyMap<string, number>): PermanentError {
  const kinds = [...skipped].map(([kind, count]) => `${count} ${kind}`).join(', ')
  const likelier = survey.format === format ? null : survey.format
  return validationError(
    'file',
    `holds no message of the format ${format}${kinds === '' ? '' : ` (other records: ${kinds})`}`,
    undefined,
    likelier === null ? 'Give a file that holds at least one message.' : `The file looks like ${likelier}.`,
  )
}
