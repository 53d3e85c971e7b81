import {
  limits,
  notFound,
  PermanentError,
  parse,
  RECALL_PIECE_CHARACTERS_DEFAULT,
  RECALL_TOKENS_DEFAULT,
  type RecallRequest,
  type RecallResult,
  recallRequestSchema,
  validationError,
} from '@heddle/contracts'
import {
  contentWithLines,
  cutPiece,
  excerptsOf,
  formatLocation,
  formatReference,
  type Location,
  measureTokens,
  messageReference,
  nthMatch,
  type Pausable,
  parseLineRange,
  parseReference,
  projectIdOf,
  searchLines,
  selectLines,
  type TruncatedContent,
  truncateMatches,
  truncateToTokens,
} from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { ERASED, type HistoryMessage, isGranted, loadMessage, readArchived, type Tx } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import { readArtifacts, readLedger } from './recall-ledger.js'
import { readPart } from './recall-part.js'
import { type Resolved, resolveReference } from './resolve-reference.js'

/**
 * Returns the original of condensed or summarized content, byte for byte if it fits (docs/search.md#the-archive). `lines` are
 * selected first, then searched. A search without a match returns an empty content and a `matchCount` of 0. With `offset` or
 * `limit` the content is returned in pieces, byte for byte.
 *
 * @throws PermanentError `VALIDATION_ERROR`, `NOT_FOUND`, `AMBIGUOUS_REFERENCE` with the candidates, `FORBIDDEN` for a
 * project without a grant, whether it exists or not
 */
export async function recall(parts: EngineContext, request: RecallRequest): Promise<RecallResult> {
  const checked = parse(recallRequestSchema, request, 'recall')
  const reference = parseReference(checked.ref)
  if (isPiece(checked)) requirePlain(checked, reference.location)
  const project = reference.project ?? parts.project
  const projectId = projectIdOf(project)
  const isOther = project !== parts.project
  if (isOther && reference.thread === null) {
    throw validationError('thread', 'is required: the current one belongs to another project', checked.ref)
  }
  const range = rangeOf(reference.location, checked)
  const resolvedContent = await parts.store.inProject(projectId, async (tx) => {
    if (isOther) await requireGrant(tx, parts, project)
    const resolved = await resolveReference(tx, reference, { projectId, project, current: checked.thread })
    const read = await readAt(tx, resolved, { location: reference.location, range })
    return { ...resolved, ...read }
  })
  // A ledger is read page by page, which holds no transaction.
  const found =
    reference.location?.kind === 'ledger'
      ? { ...resolvedContent, content: await readLedger({ store: parts.store, projectId }, resolvedContent) }
      : resolvedContent
  if (found.archiveId !== null) parts.store.noteAccess(projectId, found.archiveId)
  const shown = await runCooperatively(show(found, { location: reference.location, range, wanted: checked }))
  const { contentType, summary, filePaths, thread, message, recalledPart } = found
  return {
    ref: formatReference({ project, thread: thread.code, message: message.code, location: reference.location }),
    thread: thread.name,
    messageId: message.id,
    contentType,
    summary,
    filePaths,
    ...shown,
    part: recalledPart,
  }
}

function isPiece({ offset, limit }: RecallRequest): boolean {
  return offset !== undefined || limit !== undefined
}

/** Pieces are of the unchanged content, so they cannot be combined with options that select or shorten it. */
function requirePlain(request: RecallRequest, location: Location | null): void {
  const field = (['lines', 'search', 'maxTokens'] as const).find((name) => request[name] !== undefined)
  const rule = 'cannot be combined with offset and limit, which return the unchanged content'
  if (field !== undefined) throw validationError(field, rule, String(request[field]))
  if (location?.kind === 'lines' || location?.kind === 'match') throw validationError('ref', rule, request.ref)
}

async function requireGrant(tx: Tx, { project: own, projectId }: EngineContext, project: string): Promise<void> {
  if (await isGranted(tx, { granteeProjectId: projectId, scope: 'recall' })) return
  throw new PermanentError('FORBIDDEN', `project "${project}" may not be read from project "${own}"`, {
    field: 'ref',
    received: project,
    hint: 'an admin of that project offers a grant, and an admin of this one accepts it',
  })
}

/** The requested lines, otherwise those in the reference; null for all. */
function rangeOf(location: Location | null, { lines }: RecallRequest): string | null {
  return lines ?? (location?.kind === 'lines' ? `${location.from}-${location.to}` : null)
}

interface FoundContent {
  readonly archiveId: string | null
  readonly content: string
  /** The position of `content` in the whole, if it is a part of it. */
  readonly part: { readonly linesBefore: number; readonly linesTotal: number } | null
  readonly contentType: string
  readonly summary: string
  readonly filePaths: string[]
  /** The image, document or sound that the reference names. */
  readonly recalledPart?: RecallResult['part']
}

const LEDGER: FoundContent = {
  archiveId: null,
  content: '',
  part: null,
  contentType: 'ledger',
  summary: '',
  filePaths: [],
}

async function readAt(
  tx: Tx,
  resolved: Resolved,
  where: { location: Location | null; range: string | null },
): Promise<FoundContent> {
  switch (where.location?.kind) {
    case 'ledger':
      return LEDGER
    case 'artifacts':
      return { ...LEDGER, content: await readArtifacts(tx, resolved) }
    default:
      return await readContent(tx, resolved, where)
  }
}

/** Reads from the archive if the message was condensed, otherwise the message itself. */
async function readContent(
  tx: Tx,
  { thread: { threadId }, message: { id } }: Resolved,
  { location, range }: { location: Location | null; range: string | null },
): Promise<FoundContent> {
  if (location?.kind === 'part') {
    return { archiveId: null, part: null, ...(await readPart(tx, { threadId, id, number: location.number })) }
  }
  const isCall = location?.kind === 'tool'
  const lines = range === null || isCall ? {} : { lines: parseLineRange(range) }
  const place = isCall ? { location: formatLocation(location) } : {}
  const archived = await readArchived(tx, { threadId, messageId: id, ...place, ...lines })
  // The archive may have no copy of the message's own text, and has no calls that were not condensed.
  const message = archived?.content ? null : await loadMessage(tx, { threadId, id })
  if (message === null && !archived?.content) throw notFound('message', id, 'it was erased')
  if (message?.keptAside === ERASED)
    throw notFound('message', messageReference(message.code), 'it was erased, and cannot be restored')
  const content =
    message && isCall
      ? callOf(message, location.number)
      : archived?.content || (message === null ? '' : textOf(message))
  return {
    archiveId: archived?.id ?? null,
    content,
    part: archived?.part ?? null,
    contentType: archived?.contentType ?? message?.role ?? 'other',
    summary: archived?.summary ?? '',
    filePaths: [...(archived?.filePaths ?? [])],
  }
}

function textOf({ content, toolCalls, code, parts }: HistoryMessage): string {
  // A message with only images has no text: each is listed with its reference.
  if (content === '' && parts !== undefined) return contentWithLines({ content, parts }, messageReference(code))
  return content === '' && toolCalls.length > 0 ? JSON.stringify(toolCalls) : content
}

function callOf({ toolCalls }: HistoryMessage, number: number): string {
  const call = toolCalls[number - 1]
  if (!call) throw notFound('tool call', `tool-${number}`, `the message has ${toolCalls.length} calls`)
  return JSON.stringify(call)
}

type Shown = TruncatedContent & Pick<RecallResult, 'linesTotal' | 'nextOffset' | 'matchCount'>

function* show(
  { content, part: whole }: FoundContent,
  { location, range, wanted }: { location: Location | null; range: string | null; wanted: RecallRequest },
): Pausable<Shown> {
  const { search, maxTokens = RECALL_TOKENS_DEFAULT } = wanted
  const { text, from, to, linesTotal } = yield* selectLines(content, range, whole)
  const nextOffset = null
  if (isPiece(wanted)) return { ...(yield* showPiece(text, wanted)), linesTotal, matchCount: null }
  if (location?.kind === 'match') {
    const match = yield* matchOf({ text, from }, location.number, search)
    const part = yield* truncateToTokens(match.text, maxTokens, match.line)
    return { ...part, linesTotal, nextOffset, matchCount: 1 }
  }
  if (search !== undefined) {
    const found = yield* searchLines(text, search, from)
    const excerpts = excerptsOf(found.matches, search)
    const part = yield* truncateMatches(excerpts, { ...found, lastLine: to }, maxTokens)
    return { ...part, linesTotal, nextOffset, matchCount: found.matchCount }
  }
  const shown = yield* truncateToTokens(text, maxTokens, from)
  if (shown.content.length <= limits.recallCharactersMax) return { ...shown, linesTotal, nextOffset, matchCount: null }
  const first = yield* showPiece(text, { limit: limits.recallCharactersMax })
  return { ...first, nextOffset: range === null ? first.nextOffset : null, linesTotal, matchCount: null }
}

function* showPiece(
  content: string,
  { offset = 0, limit = RECALL_PIECE_CHARACTERS_DEFAULT }: Pick<RecallRequest, 'offset' | 'limit'>,
): Pausable<TruncatedContent & Pick<RecallResult, 'nextOffset'>> {
  const { text, nextOffset } = cutPiece(content, offset, limit)
  return { content: text, tokenCount: yield* measureTokens(text), truncated: nextOffset !== null, nextOffset }
}

/** The match of a location such as `:match-3`: of the requested search, otherwise of the search that returned the content. */
function* matchOf({ text, from }: { text: string; from: number }, number: number, search: string | undefined) {
  const match =
    search === undefined
      ? yield* nthMatch(text, number, from)
      : ((yield* searchLines(text, search, from)).matches[number - 1] ?? null)
  if (!match) throw notFound('match', `match-${number}`, 'the content has fewer matches')
  return match
}
