import { limits, notFound, PermanentError, validationError } from '@heddle/contracts'
import {
  formatMatches,
  formatReference,
  type Location,
  nthMatch,
  parseReference,
  type RecallResult,
  type Reference,
  searchLines,
  selectLines,
  threadIdOf,
  truncateToTokens,
} from '@heddle/core'
import {
  findArchiveEntry,
  findMessagesByCode,
  findThreadsByCode,
  type HistoryMessage,
  loadMessage,
  loadThread,
  readArchiveContent,
  recordAccess,
  type ThreadRow,
  type Tx,
} from '@heddle/store'
import type { ClientParts } from './options.js'

export interface RecallOptions {
  /** In any form of spec 001: `msg-xxxxxxxx`, `nexora://project/thread/msg-xxxxxxxx:L10-50`, `[recall:...]`. */
  readonly reference: string
  /** The current thread, for references that name none. */
  readonly thread?: string
  /** A range of lines, such as `10-50`. */
  readonly lines?: string
  /** A literal text; only lines that hold it come back. */
  readonly search?: string
  /** Tokens of the content that comes back. Default 2,000. */
  readonly maxTokens?: number
}

const TOKENS_DEFAULT = 2_000

/**
 * Gives back what a context shows only condensed or summarized, to the byte where it fits.
 *
 * @throws PermanentError `NOT_FOUND`, `AMBIGUOUS_REFERENCE` with the candidates, `FORBIDDEN` for another project
 */
export async function recall(parts: ClientParts, options: RecallOptions): Promise<RecallResult> {
  const reference = parseReference(options.reference)
  const tokensMax = options.maxTokens ?? TOKENS_DEFAULT
  if (!Number.isInteger(tokensMax) || tokensMax < 1 || tokensMax > limits.budgetTokensMax) {
    throw validationError('maxTokens', `must be a whole number from 1 to ${limits.budgetTokensMax}`, tokensMax)
  }
  if (reference.project !== null && reference.project !== parts.project) {
    throw new PermanentError('FORBIDDEN', `this is project "${parts.project}"; another one may not be read`, {
      field: 'reference',
      received: reference.project,
      hint: 'ask an admin of the other project for a grant',
    })
  }
  return await parts.store.inProject(parts.projectId, async (tx) => {
    const thread = await findThread(tx, parts, reference, options.thread)
    const message = await findMessage(tx, thread, reference.message)
    const whole = await wholeContent(tx, thread, message)
    const part = select(whole.content, message, reference.location, options)
    const { content, tokenCount, truncated } = truncateToTokens(part.text, tokensMax, part.firstLine)
    const ref = formatReference({
      project: parts.project,
      thread: thread.code,
      message: message.code,
      location: reference.location,
    })
    const { contentType, summary, filePaths } = whole
    return { ref, contentType, summary, content, filePaths, tokenCount, truncated }
  })
}

async function findThread(
  tx: Tx,
  parts: ClientParts,
  reference: Reference,
  current: string | undefined,
): Promise<ThreadRow> {
  const name = reference.thread ?? current
  if (name === undefined) {
    throw validationError(
      'thread',
      'is needed: the reference names none',
      `msg-${reference.message}`,
      'give --thread, or the whole reference',
    )
  }
  const byName = await loadThread(tx, { threadId: threadIdOf(parts.projectId, name) })
  if (byName) return byName
  const candidates = await findThreadsByCode(tx, name)
  const chosen =
    candidates.find((candidate) => candidate.code === name) ?? (candidates.length === 1 ? candidates[0] : undefined)
  if (candidates.length > 1 && !chosen)
    throw ambiguous(
      'thread',
      name,
      candidates.map(({ code }) => code),
    )
  const byCode = chosen && (await loadThread(tx, { threadId: chosen.threadId }))
  if (!byCode) throw notFound('thread', name)
  return byCode
}

async function findMessage(tx: Tx, thread: ThreadRow, code: string): Promise<HistoryMessage> {
  const candidates = await findMessagesByCode(tx, thread.threadId, code)
  const chosen =
    candidates.find((candidate) => candidate.code === code) ?? (candidates.length === 1 ? candidates[0] : undefined)
  if (candidates.length > 1 && !chosen) {
    throw ambiguous(
      'message',
      `msg-${code}`,
      candidates.map((candidate) => `msg-${candidate.code}`),
    )
  }
  const message = chosen && (await loadMessage(tx, { threadId: thread.threadId, id: chosen.id }))
  if (!message) throw notFound('message', `msg-${code}`, `thread "${thread.name}" has no message of this reference`)
  return message
}

function ambiguous(kind: string, name: string, candidates: readonly string[]): PermanentError {
  return new PermanentError('AMBIGUOUS_REFERENCE', `${name} may be any of ${candidates.join(', ')}`, {
    field: kind,
    received: name,
    facts: { candidates },
    hint: 'give more characters of the one that is meant',
  })
}

/** From the archive where it was condensed; a message that still stands verbatim can be recalled all the same. */
async function wholeContent(tx: Tx, thread: ThreadRow, message: HistoryMessage) {
  const entry = await findArchiveEntry(tx, { threadId: thread.threadId, messageId: message.id })
  const archived = entry && (await readArchiveContent(tx, entry.contentHash))
  if (!entry || archived === null) {
    const content =
      message.content === '' && message.toolCalls.length > 0 ? JSON.stringify(message.toolCalls) : message.content
    return { content, contentType: message.role, summary: '', filePaths: [] }
  }
  await recordAccess(tx, { id: entry.id, atMs: Date.now() })
  return { content: archived, contentType: entry.contentType, summary: entry.summary, filePaths: entry.filePaths }
}

function select(
  content: string,
  message: HistoryMessage,
  location: Location | null,
  wanted: RecallOptions,
): { text: string; firstLine: number } {
  if (wanted.search !== undefined) {
    const matches = searchLines(content, wanted.search)
    if (matches.length === 0) throw notFound('search', wanted.search, 'the content holds no line with this text')
    return { text: formatMatches(matches), firstLine: 1 }
  }
  const range = wanted.lines ?? (location?.kind === 'lines' ? `${location.from}-${location.to}` : undefined)
  if (range !== undefined) {
    const selected = selectLines(content, range)
    return { text: selected.text, firstLine: selected.from }
  }
  if (location?.kind === 'match') {
    const match = nthMatch(content, location.number)
    if (!match) throw notFound('match', `match-${location.number}`, 'the content has fewer matches')
    return { text: match.text, firstLine: match.line }
  }
  if (location?.kind === 'tool') {
    const call = message.toolCalls[location.number - 1]
    if (!call)
      throw notFound('tool call', `tool-${location.number}`, `the message has ${message.toolCalls.length} calls`)
    return { text: JSON.stringify(call), firstLine: 1 }
  }
  return { text: content, firstLine: 1 }
}
