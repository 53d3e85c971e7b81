import type { SourceRecord } from '@heddle/client/forms'
import {
  blocksOf,
  countSkipped,
  type DraftMessage,
  isJsonObject,
  type Json,
  type JsonObject,
  metadataField,
  readAssistant,
  readUser,
  textField,
} from '@heddle/client/forms'
import type { Span } from '@heddle/core'
import { canonicalJson } from '@heddle/core'
import { recordsOf } from './conversations.js'
import { HashTable } from './hash-table.js'
import type { Draft, Reading, ReadingOptions } from './parsed.js'
import { numberOf, Repeats } from './repeats.js'
import type { Source } from './source.js'

const READ_FIELDS = [
  'type',
  'message',
  'timestamp',
  'isSidechain',
  'agentId',
  'isMeta',
  'isCompactSummary',
  'isApiErrorMessage',
]

/**
 * Transcripts of Claude Code. A record has one block of an assistant message, and results of its first calls may be
 * recorded before its last block: all records of one message id become one message, at the position of the first.
 * Records of subagents (`isSidechain`) are threads of their own.
 */
export function readClaudeCode(source: Source, { skipped }: Pick<ReadingOptions, 'skipped'>): Reading {
  const threads = new ThreadFinder()
  let isMainEmpty = true
  function* drafts(): Generator<Draft> {
    for (const draft of readDrafts(source, threads, skipped)) {
      isMainEmpty &&= draft.thread !== MAIN_THREAD
      yield draft
    }
  }
  return {
    drafts: drafts(),
    // A subagent's own file contains only its sidechain.
    suffixOf: (thread) => (isMainEmpty && threads.sidechains === 1 ? null : threads.suffixOf(thread)),
  }
}

function* readDrafts(source: Source, threads: ThreadFinder, skipped: Map<string, number>): Generator<Draft> {
  const continuations = continuationsIn(source)
  const opened = new HashTable()
  const cwds = new Map<number, string>()
  /** The working directory as metadata, only if it changed: it is constant for most of a session. */
  const changedCwd = (thread: number, record: JsonObject): JsonObject => {
    const cwd = textField(record, 'cwd')
    if (cwd === undefined || cwd === cwds.get(thread)) return {}
    cwds.set(thread, cwd)
    return { cwd }
  }
  for (const record of messagesIn(source, threads, skipped)) {
    const { role, thread, kind, value } = record
    if (role === 'user') {
      const messages = readUserRecord(record, () => changedCwd(thread, value))
      if (messages.length === 0) countSkipped(skipped, `${kind}/empty`)
      for (const message of messages) yield { thread, message }
      continue
    }
    const key = keyOf(record)
    if (key !== null && opened.has(key)) continue
    const open = openAssistant(record, changedCwd(thread, value))
    if (key !== null) {
      opened.set(key, 0)
      for (const further of continuations.of(key)) goOn(open, further)
    }
    yield { thread, message: closeAssistant(open) }
  }
}

interface MessageRecord extends SourceRecord {
  span: Span
  message: JsonObject
  role: 'user' | 'assistant'
  kind: string
  thread: number
}

function* messagesIn(
  source: Source,
  threads: ThreadFinder,
  skipped: Map<string, number> | null,
): Generator<MessageRecord> {
  const repeats = new Repeats()
  for (const record of recordsOf(source)) {
    const { place, value } = record
    const { message } = value
    const kind = kindOf(value)
    const uuid = textField(value, 'uuid')
    const role = isJsonObject(message) ? roleOf(value, message) : null
    if (!isJsonObject(message) || role === null) {
      if (skipped !== null) countSkipped(skipped, kind)
      continue
    }
    // Continued sessions may contain a record twice.
    if (uuid !== undefined && repeats.isRepeat(place, { field: 'uuid', name: uuid, content: readPartOf(value) })) {
      if (skipped !== null) countSkipped(skipped, `${kind}/repeated`)
      continue
    }
    yield { ...record, message, role, kind, thread: threads.find(value) }
  }
}

/** The compared fields of a record: copies in a continued session differ in the session that they name. */
function readPartOf(record: JsonObject): string {
  return canonicalJson(READ_FIELDS.map((field) => record[field] ?? null))
}

/** Identifies an assistant message in a file; null for one without an id, which is one record. */
function keyOf({ thread, message }: MessageRecord): string | null {
  const id = textField(message, 'id')
  return id === undefined ? null : `${thread} ${id}`
}

/** Positions of the further records of assistant messages: the file is scanned once before it is read. */
function continuationsIn(source: Source): { of(key: string): Generator<SourceRecord> } {
  const threads = new ThreadFinder()
  const [firsts, lasts] = [new HashTable(), new HashTable()]
  const found: { readonly number: number; readonly span: Span; next: number }[] = []
  const NONE = -1
  for (const record of messagesIn(source, threads, null)) {
    const key = record.role === 'assistant' ? keyOf(record) : null
    if (key === null) continue
    const last = lasts.get(key)
    if (last === undefined) {
      lasts.set(key, NONE)
      continue
    }
    const index = found.push({ number: numberOf(record.place), span: record.span, next: NONE }) - 1
    const before = found[last]
    if (before === undefined) firsts.set(key, index)
    else before.next = index
    lasts.set(key, index)
  }
  return {
    *of(key) {
      let next = found[firsts.get(key) ?? NONE]
      while (next !== undefined) {
        const place = placeOf(source, next.number)
        const { value } = source.again({ place, span: next.span })
        if (isJsonObject(value)) yield { place, value }
        next = found[next.next]
      }
    },
  }
}

function placeOf({ kind }: Source, number: number): string {
  return kind === 'lines' ? `line ${number}` : String(number)
}

/** An assistant message whose records are still being collected. */
interface OpenAssistant {
  place: string
  record: JsonObject
  model: string | undefined
  usage: Json | undefined
  blocks: Json[]
  cwd: JsonObject
}

function openAssistant({ place, value, message }: MessageRecord, cwd: JsonObject): OpenAssistant {
  const { usage, content } = message
  return { place, record: value, model: textField(message, 'model'), usage, blocks: [...blocksOf(place, content)], cwd }
}

function goOn(open: OpenAssistant, { place, value }: SourceRecord): void {
  const message = value['message']
  if (!isJsonObject(message)) return
  for (const block of blocksOf(place, message['content'])) open.blocks.push(block)
  open.usage = message['usage'] ?? open.usage
  open.model ??= textField(message, 'model')
}

function readUserRecord({ place, value, message }: MessageRecord, changedCwd: () => JsonObject): DraftMessage[] {
  const parts = readUser(place, message['content'])
  const uuid = textField(value, 'uuid')
  const cwd = changedCwd()
  return parts.map(({ block, input }): DraftMessage => {
    const identity = uuid === undefined || parts.length === 1 ? uuid : `${uuid}#${block}`
    return {
      place,
      ...(identity !== undefined && { identity }),
      input: {
        ...input,
        ...originOf(value, identity),
        ...(value['isCompactSummary'] === true && { keptAside: 'compact-summary' }),
        ...metadataField(input.metadata ?? {}, cwd, value['isMeta'] === true ? { isMeta: true } : {}),
      },
    }
  })
}

function closeAssistant({ place, record, model, usage, blocks, cwd }: OpenAssistant): DraftMessage {
  const message = record['message']
  const identity = (isJsonObject(message) ? textField(message, 'id') : undefined) ?? textField(record, 'uuid')
  const input = readAssistant(place, blocks)
  return {
    place,
    ...(identity !== undefined && { identity }),
    input: {
      ...input,
      ...originOf(record, identity),
      ...(model !== undefined && { model }),
      ...(isJsonObject(usage) && { usage }),
      ...metadataField(
        input.metadata ?? {},
        cwd,
        record['isApiErrorMessage'] === true ? { isApiErrorMessage: true } : {},
      ),
    },
  }
}

function originOf(record: JsonObject, sourceId: string | undefined) {
  const sentAt = textField(record, 'timestamp')
  return { ...(sourceId !== undefined && { sourceId }), ...(sentAt !== undefined && { sentAt }) }
}

const MAIN_THREAD = 0

/** Finds the thread of a record: the main one, or that of its subagent. */
class ThreadFinder {
  readonly #suffixes: (string | null)[] = [null]
  readonly #threadOfChain = new Map<string, number>()
  readonly #threadOfRecord = new HashTable()

  get sidechains(): number {
    return this.#suffixes.length - 1
  }

  suffixOf(thread: number): string | null {
    return this.#suffixes[thread] ?? null
  }

  find(record: JsonObject): number {
    if (record['isSidechain'] !== true) return MAIN_THREAD
    const uuid = textField(record, 'uuid')
    const agentId = textField(record, 'agentId')
    const ofParent = agentId === undefined ? this.#threadOfRecord.get(textField(record, 'parentUuid') ?? '') : undefined
    const thread = ofParent ?? this.#ofChain(agentId ?? uuid ?? '', agentId)
    if (uuid !== undefined) this.#threadOfRecord.set(uuid, thread)
    return thread
  }

  #ofChain(chain: string, agentId: string | undefined): number {
    const known = this.#threadOfChain.get(chain)
    if (known !== undefined) return known
    const thread = this.#suffixes.length
    this.#suffixes.push(agentId === undefined ? `sidechain-${thread}` : `agent-${agentId}`)
    this.#threadOfChain.set(chain, thread)
    return thread
  }
}

function roleOf(record: JsonObject, message: JsonObject): 'user' | 'assistant' | null {
  const role = message['role'] ?? record['type']
  return role === 'user' || role === 'assistant' ? role : null
}

function kindOf(record: JsonObject): string {
  const type = textField(record, 'type') ?? 'unknown'
  const subtype = textField(record, 'subtype')
  return subtype === undefined ? type : `${type}/${subtype}`
}
