import type { GetProxiedRequestOptions } from '@heddle/client/interface'
import { idSchema, notFound, type ProxiedRequestView, parse, type ViewedEntry } from '@heddle/contracts'
import {
  type Message,
  messageReference,
  type RecordedEntry,
  type RecordedHead,
  type RecordedRequest,
  recordedRequest,
  shortCode,
  sliceWhole,
} from '@heddle/core'
import {
  ERASED,
  loadMessageBytes,
  loadMessagesById,
  loadProxiedRequest,
  loadProxiedTexts,
  loadProxiedView,
  type Tx,
} from '@heddle/store'
import { type CursorList, cursorOf, placeAt } from '../setup/cursors.js'
import { checkPageLimit, type EngineContext } from '../setup/options.js'
import { toProxiedRequest } from './proxied-requests.js'

const LIMIT_DEFAULT = 50
const CONTENT_CHARACTERS_MAX = 20_000
/** Of messages that are read for one page, before they are cut. */
const PAGE_BYTES_MAX = 8_000_000
/** Requests that one is based on, at most: more than a proxy makes of them. */
const DEPTH_MAX = 2_000

/**
 * A relayed request as it was received and as it was sent, put together from stored messages.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`
 */
export async function viewRelayed(
  { store, projectId }: EngineContext,
  { id, limit = LIMIT_DEFAULT, ...page }: GetProxiedRequestOptions,
): Promise<ProxiedRequestView> {
  checkPageLimit(limit)
  const requestId = parse(idSchema, id, 'request')
  const list: CursorList = { kind: 'proxied-entries', ownerId: requestId }
  const from = Number(placeAt(list, page, /^(\d{1,9})$/)?.[1] ?? 0)
  return await store.inProject(projectId, async (tx) => {
    const row = await loadProxiedRequest(tx, { id: requestId })
    if (row === null) throw notFound('request', requestId, 'see `heddle proxy requests`')
    const request = toProxiedRequest(row)
    const view = await loadProxiedView(tx, { id: requestId, depthMax: DEPTH_MAX })
    const whole = view === null ? null : recordedRequest(view.deltas)
    if (view === null || whole === null) return { request, ...NOT_RECORDED }
    const { threadId } = row
    const entries = await fittingEntries(tx, threadId, whole.entries.slice(from, from + limit))
    const stubs = whole.stubs.filter(({ entry }) => entry >= from && entry < from + entries.length)
    const head = from === 0 ? whole.head : null
    const [messages, texts] = await Promise.all([
      loadMessagesById(tx, { threadId, ids: entries.flatMap((entry) => entry.messages) }),
      loadProxiedTexts(tx, { threadId, hashes: hashesOf({ ...whole, stubs }, head) }),
    ])
    const context = { whole, texts, messages: new Map(messages.map((message) => [message.id, message])) }
    const next = from + entries.length
    return {
      request,
      isRecorded: true,
      received: { bytes: view.bytesReceived, sha256: Buffer.from(view.hashReceived).toString('hex') },
      sent: { bytes: view.bytesSent, sha256: Buffer.from(view.hashSent).toString('hex') },
      hasRecallTool: whole.hasRecallTool,
      head: head === null ? null : viewedHead(head, texts),
      cover: whole.cover === null ? null : { ...whole.cover, text: texts.get(whole.cover.hash) ?? null },
      items: entries.map((entry, index) => viewedEntry(entry, from + index, context)),
      nextCursor: next < whole.entries.length ? cursorOf(list, String(next)) : null,
    }
  })
}

const NOT_RECORDED = {
  isRecorded: false,
  received: null,
  sent: null,
  hasRecallTool: false,
  head: null,
  cover: null,
  items: [],
  nextCursor: null,
} satisfies Omit<ProxiedRequestView, 'request'>

/** The first entries whose messages fit into a page; at least one. */
async function fittingEntries(tx: Tx, threadId: string, entries: readonly RecordedEntry[]): Promise<RecordedEntry[]> {
  const sizes = await loadMessageBytes(tx, { threadId, ids: entries.flatMap(({ messages }) => messages) })
  let bytes = 0
  return entries.filter(({ messages }) => {
    const isFitting = bytes < PAGE_BYTES_MAX
    bytes += messages.reduce((sum, message) => sum + (sizes.get(message) ?? 0), 0)
    return isFitting
  })
}

function hashesOf({ stubs, cover }: Pick<RecordedRequest, 'stubs' | 'cover'>, head: RecordedHead | null): string[] {
  const ofHead = head?.fields.flatMap(({ hash }) => hash ?? []) ?? []
  return [...stubs.map(({ hash }) => hash), ...(cover === null ? [] : [cover.hash]), ...ofHead]
}

function viewedHead({ tokens, fields, omitted }: RecordedHead, texts: ReadonlyMap<string, string>) {
  return {
    tokens,
    omitted,
    fields: fields.map(({ name, bytes, hash }) => {
      return { name, bytes, text: hash === null ? null : (texts.get(hash) ?? null) }
    }),
  }
}

interface ViewContext {
  readonly whole: RecordedRequest
  readonly texts: ReadonlyMap<string, string>
  readonly messages: ReadonlyMap<string, Message>
}

function viewedEntry(entry: RecordedEntry, index: number, { whole, texts, messages }: ViewContext): ViewedEntry {
  const { kind, bytes, tokens } = entry
  const { cover } = whole
  const isCovered = cover !== null && index >= cover.from && index < cover.to
  const stubs = isCovered ? [] : whole.stubs.filter((stub) => stub.entry === index)
  const recalls = whole.recalls.filter((each) => each.entry === index)
  const saved = stubs.reduce((sum, { tokensBefore, tokensAfter }) => sum + tokensBefore - tokensAfter, 0)
  const added = recalls.reduce((sum, each) => sum + each.tokens, 0)
  return {
    index,
    kind,
    sentAs: isCovered ? 'covered' : stubs.length > 0 ? 'stub' : 'itself',
    bytes,
    tokens: { received: tokens, sent: isCovered ? 0 : tokens - saved + added },
    messages: entry.messages.map((id) => viewedMessage(id, messages.get(id))),
    stubs: stubs.map(({ messageId, reference, hash, tokensBefore, tokensAfter }) => {
      return { messageId, reference, text: texts.get(hash) ?? null, tokensBefore, tokensAfter }
    }),
    recalls: recalls.flatMap(({ references }) => references),
  }
}

function viewedMessage(id: string, message: Message | undefined): ViewedEntry['messages'][number] {
  if (message === undefined) return { id, reference: messageReference(shortCode(id)), state: 'missing', content: '' }
  const { role, content, toolName, toolCallId, toolCalls, isError, keptAside } = message
  const reference = messageReference(message.code)
  if (keptAside === ERASED) return { id, reference, state: 'erased', role, content: '' }
  const shown = sliceWhole(content, CONTENT_CHARACTERS_MAX)
  return {
    id,
    reference,
    state: 'stored',
    role,
    content: shown,
    ...(shown.length < content.length && { isCut: true }),
    ...(toolName !== null && { toolName }),
    ...(toolCallId !== null && { toolCallId }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(isError && { isError: true }),
  }
}
