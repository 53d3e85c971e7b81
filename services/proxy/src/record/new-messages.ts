import { entrySchemaOf, type ReadMessage, readForm } from '@heddle/client/forms'
import type { JsonObject, MessageInput } from '@heddle/contracts'
import { COMPACTED, messageIdentity, type ProviderRequest, proxiedMessageId, readEntryAt } from '@heddle/core'
import type { AddedMessages, KnownMessage, KnownMessages } from './known-messages.js'

export interface NewMessages {
  /** Those that are not stored. */
  readonly messages: readonly MessageInput[]
  /** The change of the known messages once they are. */
  readonly added: AddedMessages
  /** The number of entries that are not understood; they are relayed, and not stored. */
  readonly skipped: number
}

export interface ReadOptions {
  readonly thread: string
  readonly threadId: string
  readonly known: KnownMessages
}

/** The messages of a request after those that are stored; only the entries that are new are parsed. */
export function newMessagesOf(request: ProviderRequest, body: Uint8Array, options: ReadOptions): NewMessages {
  const { entries, protocol } = request
  const from = options.known.sharedWith(request)
  const fresh = entries.slice(from)
  const values = fresh.map(({ index }) => readEntryAt(request, body, index).value)
  const read = readAll(protocol, values, options.thread)
  // A result may be new while its call is not.
  const isNamed = read.messages.every(
    ({ message }) => message.toolCallId === undefined || message.toolName !== undefined,
  )
  const named = isNamed ? [] : entries.flatMap(({ calls }) => calls.map(({ id, name }) => [id, name] as const))
  const hashes = fresh.map(({ hash }) => hash)
  return identified(read, { ...options, from, hashes, toolNames: new Map(named) })
}

/** The messages of a reply, which the next request is expected to repeat after the entries of this one. */
export function newMessagesOfReply(
  protocol: ProviderRequest['protocol'],
  reply: JsonObject,
  options: ReadOptions,
): NewMessages {
  const read = readAll(protocol, [reply], options.thread)
  return identified(read, { ...options, from: options.known.entries, hashes: [], toolNames: new Map() })
}

interface Read {
  readonly messages: readonly ReadMessage[]
  /** Entries that are not understood. */
  readonly skipped: readonly number[]
}

function readAll(protocol: ProviderRequest['protocol'], values: readonly JsonObject[], thread: string): Read {
  const schema = entrySchemaOf(protocol)
  const skipped: number[] = []
  const valid = values.flatMap((value, entry) => {
    if (isOwnText(value)) return []
    const parsed = schema.safeParse(value)
    if (parsed.success) return [{ entry, value: parsed.data }]
    skipped.push(entry)
    return []
  })
  try {
    const read = readForm(
      protocol,
      thread,
      valid.map(({ value }) => value),
    )
    return { messages: read.map((each) => ({ ...each, entry: valid[each.entry]?.entry ?? 0 })), skipped }
  } catch {
    return { messages: [], skipped: [...values.keys()] }
  }
}

interface Placed extends ReadOptions {
  /** The first entry that the messages are from. */
  readonly from: number
  readonly hashes: readonly string[]
  readonly toolNames: ReadonlyMap<string, string>
}

function identified({ messages: read, skipped }: Read, placed: Placed): NewMessages {
  const { threadId, known, from, hashes, toolNames } = placed
  const keys: KnownMessage[] = []
  const counts = new Map<string, number>()
  const ids = new Set<string>()
  const messages: MessageInput[] = []
  for (const { entry, message } of read) {
    const key = messageIdentity(message, 0)
    const occurrence = counts.get(key) ?? known.countBefore(from, key)
    counts.set(key, occurrence + 1)
    const id = proxiedMessageId(threadId, messageIdentity(message, occurrence))
    keys.push({ entry: from + entry, key, id })
    if (known.has(id) || ids.has(id)) continue
    ids.add(id)
    const toolName =
      message.toolName ?? (message.toolCallId === undefined ? undefined : toolNames.get(message.toolCallId))
    messages.push({ ...message, id, toolName })
  }
  const unstored = skipped.map((entry) => from + entry)
  return { messages, added: { from, hashes, keys, unstored }, skipped: skipped.length }
}

/** The change without refused messages: nothing is stored under their ids. */
export function withoutRefused(added: AddedMessages, refused: readonly MessageInput[]): AddedMessages {
  if (refused.length === 0) return added
  const ids = new Set(refused.map(({ id }) => id))
  const isRefused = ({ id }: KnownMessage) => ids.has(id)
  return {
    ...added,
    keys: added.keys.filter((known) => !isRefused(known)),
    unstored: [...added.unstored, ...added.keys.filter(isRefused).map(({ entry }) => entry)],
  }
}

/** A history that Heddle made from stored messages is not stored again. */
function isOwnText({ role, content }: JsonObject): boolean {
  if (role !== 'user' || !Array.isArray(content)) return false
  const [first] = content as { text?: unknown }[]
  return typeof first?.text === 'string' && first.text.startsWith(COMPACTED)
}
