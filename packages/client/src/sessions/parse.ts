import { type ErrorDetails, messageInputSchema, PermanentError, parse, validationError } from '@heddle/contracts'
import { messageFingerprint, NIL_ID } from '@heddle/core'
import { readAnthropic } from './anthropic.js'
import { readClaudeCode } from './claude-code.js'
import { detectFormat } from './detect.js'
import { readHeddle } from './heddle.js'
import { readOpenAi } from './openai.js'
import {
  countSkipped,
  type DraftMessage,
  type Drafts,
  type DraftThread,
  type ParsedFile,
  type ParsedMessage,
  type ParsedThread,
  type SessionFormat,
} from './parsed.js'
import { readSource, type Source } from './source.js'
import { readSweAgent } from './swe-agent.js'

const readers: Readonly<Record<SessionFormat, (source: Source) => Drafts>> = {
  heddle: readHeddle,
  'claude-code': readClaudeCode,
  openai: readOpenAi,
  anthropic: readAnthropic,
  'swe-agent': readSweAgent,
}

export interface ParseSessionOptions {
  /** For error messages only. */
  fileName: string
  format: SessionFormat | 'auto'
}

/**
 * Reads a recorded session: all of it is checked before anything is returned.
 *
 * @param text the file's content
 * @throws PermanentError `VALIDATION_ERROR` or `PAYLOAD_TOO_LARGE`; its field names the place, such as `line 12`
 */
export function parseSession(text: string, { fileName, format }: ParseSessionOptions): ParsedFile {
  try {
    return parseFile(text, format)
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error
    throw new PermanentError(error.code, `${fileName}: ${error.message}`, detailsOf(error))
  }
}

function parseFile(text: string, asked: SessionFormat | 'auto'): ParsedFile {
  const source = readSource(text)
  const format = asked === 'auto' ? detectFormat(source) : asked
  const { threads, skipped } = readers[format](source)
  if (source.kind === 'lines' && source.isUnfinished) countSkipped(skipped, 'unfinished last line')
  const parsed = threads.filter((thread) => thread.messages.length > 0).map(finishThread)
  if (parsed.length === 0) throw withoutMessages(format, source, skipped)
  return { format, threads: parsed, skipped: Object.fromEntries(skipped) }
}

function finishThread({ suffix, messages }: DraftThread): ParsedThread {
  const toolNames = new Map<string, string>()
  const identities = new Map<string, number>()
  const parsed = messages.map((message, index) => finishMessage(message, index, toolNames, identities))
  return {
    suffix,
    messages: parsed,
    toolCalls: parsed.reduce((sum, { input }) => sum + (input.toolCalls?.length ?? 0), 0),
    toolResults: parsed.filter(({ input }) => input.role === 'tool_result').length,
  }
}

/**
 * @param toolNames names of the calls so far, by id; a later call of an id replaces the earlier
 * @param identities those given so far in the thread, with the last number that was tried to tell others from each
 */
function finishMessage(
  message: DraftMessage,
  index: number,
  toolNames: Map<string, string>,
  identities: Map<string, number>,
): ParsedMessage {
  const input = checked(message)
  for (const call of input.toolCalls ?? []) toolNames.set(call.id, call.name)
  const toolName = input.toolName ?? (input.toolCallId === undefined ? undefined : toolNames.get(input.toolCallId))
  const own = message.identity ?? contentIdentity(input, index)
  let identity = own
  let count = identities.get(own) ?? 1
  while (identities.has(identity)) identity = `${own} (${++count})`
  identities.set(own, count)
  if (identity !== own) identities.set(identity, 1)
  return { id: message.id ?? null, identity, input: { ...input, ...(toolName !== undefined && { toolName }) } }
}

function checked({ place, input }: DraftMessage): ParsedMessage['input'] {
  try {
    const { id: _placeholder, ...valid } = parse(messageInputSchema, { ...input, id: NIL_ID }, place)
    return valid
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error
    throw new PermanentError(error.code, error.message, { ...detailsOf(error), field: place })
  }
}

/** Of the fields that say what was said, so that reading more fields one day does not change it. */
function contentIdentity(
  { role, content, parts, toolCalls, toolCallId }: ParsedMessage['input'],
  index: number,
): string {
  const hash = messageFingerprint({
    id: NIL_ID,
    role,
    content,
    ...(parts !== undefined && { parts }),
    ...(toolCalls !== undefined && { toolCalls }),
    ...(toolCallId !== undefined && { toolCallId }),
  })
  return `${index}-${hash}`
}

function withoutMessages(format: SessionFormat, source: Source, skipped: ReadonlyMap<string, number>): PermanentError {
  const kinds = [...skipped].map(([kind, count]) => `${count} ${kind}`).join(', ')
  const likelier = otherFormat(format, source)
  return validationError(
    'file',
    `holds no message of the format ${format}${kinds === '' ? '' : ` (records that are none: ${kinds})`}`,
    undefined,
    likelier === null ? 'Give a file that holds at least one message.' : `The file looks like ${likelier}.`,
  )
}

function otherFormat(format: SessionFormat, source: Source): SessionFormat | null {
  try {
    const detected = detectFormat(source)
    return detected === format ? null : detected
  } catch {
    return null
  }
}

function detailsOf(error: PermanentError): ErrorDetails {
  const { code: _code, detail: _detail, ...details } = error.toJSON()
  return { ...details, cause: error }
}
