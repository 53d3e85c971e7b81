import { validationError } from '@heddle/contracts'
import { canonicalJson } from '@heddle/core'
import { readAssistant, readUser } from './anthropic-blocks.js'
import { blocksOf } from './content.js'
import { isJsonObject, type Json, type JsonObject, metadataField, textField } from './json.js'
import { countSkipped, type DraftMessage, type Drafts, type DraftThread } from './parsed.js'
import { recordsOf, type Source, type SourceRecord } from './source.js'

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
 * Transcripts of Claude Code. A record holds one block of an assistant message at a time, and the results of its first
 * calls may be recorded before its last block: all records of one message id become one message, at the place of the
 * first. Records of subagents (`isSidechain`) are threads of their own.
 */
export function readClaudeCode(source: Source): Drafts {
  const records = source.kind === 'lines' ? source.records : recordsOf(asList(source.value), String)
  const threads = new ThreadFinder()
  const skipped = new Map<string, number>()
  const seen = new Map<string, SourceRecord>()
  for (const record of records) {
    const { value } = record
    const { message } = value
    const kind = kindOf(value)
    const uuid = textField(value, 'uuid')
    const role = isJsonObject(message) ? roleOf(value, message) : null
    if (!isJsonObject(message) || role === null) {
      countSkipped(skipped, kind)
      continue
    }
    // Continued sessions may hold a record twice.
    const earlier = uuid === undefined ? undefined : seen.get(uuid)
    if (earlier !== undefined) {
      if (readPartOf(earlier) !== readPartOf(record))
        throw validationError(record.place, `uuid was given to another message at ${earlier.place}`, uuid)
      countSkipped(skipped, `${kind}/repeated`)
      continue
    }
    if (uuid !== undefined) seen.set(uuid, record)
    const thread = threads.find(value)
    if (role === 'assistant') thread.addAssistant(record, message)
    else if (thread.addUser(record, message) === 0) countSkipped(skipped, `${kind}/empty`)
  }
  return { threads: threads.all(), skipped }
}

/** All that is read of a record, to compare it by: copies in a continued session differ in the session that they name. */
function readPartOf({ value }: SourceRecord): string {
  return canonicalJson(READ_FIELDS.map((field) => value[field] ?? null))
}

/** An assistant message whose records are still being gathered. */
interface OpenAssistant {
  place: string
  record: JsonObject
  model: string | undefined
  usage: Json | undefined
  blocks: Json[]
  cwd: JsonObject
}

class ThreadReader {
  readonly #entries: (DraftMessage[] | OpenAssistant)[] = []
  readonly #open = new Map<string, OpenAssistant>()
  #cwd: string | undefined

  /** The working directory as metadata, where it is another one than before: it is the same for most of a session. */
  #changedCwd(record: JsonObject): JsonObject {
    const cwd = textField(record, 'cwd')
    if (cwd === undefined || cwd === this.#cwd) return {}
    this.#cwd = cwd
    return { cwd }
  }

  addAssistant({ place, value }: SourceRecord, message: JsonObject): void {
    const blocks = blocksOf(place, message['content'])
    const id = textField(message, 'id')
    const open = id === undefined ? undefined : this.#open.get(id)
    if (open === undefined) {
      const { usage } = message
      const model = textField(message, 'model')
      const opened = { place, record: value, model, usage, blocks: [...blocks], cwd: this.#changedCwd(value) }
      this.#entries.push(opened)
      if (id !== undefined) this.#open.set(id, opened)
      return
    }
    open.blocks.push(...blocks)
    open.usage = message['usage'] ?? open.usage
    open.model ??= textField(message, 'model')
  }

  /** Returns how many messages the record holds. */
  addUser({ place, value }: SourceRecord, message: JsonObject): number {
    const parts = readUser(place, message['content'])
    const uuid = textField(value, 'uuid')
    const cwd = this.#changedCwd(value)
    const messages = parts.map(({ block, input }): DraftMessage => {
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
    this.#entries.push(messages)
    return messages.length
  }

  messages(): DraftMessage[] {
    return this.#entries.flatMap((entry) => ('blocks' in entry ? [closeAssistant(entry)] : entry))
  }
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

/** Finds the thread of a record: the main one, or that of the subagent that it descends from. */
class ThreadFinder {
  readonly #main = new ThreadReader()
  readonly #sidechains = new Map<string, { suffix: string; reader: ThreadReader }>()
  readonly #chainOfRecord = new Map<string, string>()

  find(record: JsonObject): ThreadReader {
    if (record['isSidechain'] !== true) return this.#main
    const uuid = textField(record, 'uuid')
    const agentId = textField(record, 'agentId')
    const chain = agentId ?? this.#chainOfRecord.get(textField(record, 'parentUuid') ?? '') ?? uuid ?? ''
    if (uuid !== undefined) this.#chainOfRecord.set(uuid, chain)
    const known = this.#sidechains.get(chain)
    if (known !== undefined) return known.reader
    const suffix = agentId === undefined ? `sidechain-${this.#sidechains.size + 1}` : `agent-${agentId}`
    const reader = new ThreadReader()
    this.#sidechains.set(chain, { suffix, reader })
    return reader
  }

  all(): DraftThread[] {
    const main = { suffix: null, messages: this.#main.messages() }
    const sidechains = [...this.#sidechains.values()].map(({ suffix, reader }) => ({
      suffix,
      messages: reader.messages(),
    }))
    const [only] = sidechains
    // A subagent's own file holds nothing but its sidechain.
    if (main.messages.length === 0 && only !== undefined && sidechains.length === 1) return [{ ...only, suffix: null }]
    return [main, ...sidechains]
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

function asList(value: Json): Json[] {
  return Array.isArray(value) ? value : [value]
}
