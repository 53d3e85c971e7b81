import type { MemoryFinding } from '@heddle/contracts'
import { readConversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { toolEvents } from '../prune/events.js'
import { findSuperseded } from '../prune/supersession.js'
import type { Pausable } from '../recall/steps.js'
import { userSpeechIn } from '../speech/user-speech.js'
import { redactSecrets } from '../summarizing/redact.js'
import type { ToolCatalog } from '../tools/catalog.js'
import { NearCopies, signatureOf } from './near-copies.js'

/** A message with the thread that it is in. */
export interface AuditedMessage {
  readonly threadId: string
  readonly message: Message
}

/** By kind, the messages that were found, in their order. */
export type AuditFindings = ReadonlyMap<MemoryFinding, readonly AuditedMessage[]>

/** Shorter texts, such as "yes", repeat by nature. */
const COPIED_CHARACTERS_MIN = 20
/** The call from which on a repetition is a loop. */
const LOOP_CALLS_MIN = 3
/** Characters of a text that are searched for secrets. */
const SECRET_CHARACTERS_MAX = 50_000
/** Messages between two pauses for other work of the process. */
const MESSAGES_PER_STEP = 20

/**
 * Messages of an agent that are of little use, by rules. A message may be of several kinds.
 *
 * @param messages in the order of the conversation, of several threads
 */
export function* auditMessages(messages: readonly AuditedMessage[], catalog: ToolCatalog): Pausable<AuditFindings> {
  const stale = yield* staleOf(messages, catalog)
  const loops = loopsOf(messages)
  const found = new Map<MemoryFinding, AuditedMessage[]>()
  const seen = new Set<string>()
  const copies = new NearCopies()
  for (const [index, audited] of messages.entries()) {
    if (index % MESSAGES_PER_STEP === MESSAGES_PER_STEP - 1) yield
    for (const kind of kindsOf(audited, { seen, copies, stale, loops })) pushTo(found, kind, audited)
  }
  return found
}

interface Before {
  readonly seen: Set<string>
  readonly copies: NearCopies
  readonly stale: ReadonlySet<Message>
  readonly loops: ReadonlySet<Message>
}

function kindsOf({ message }: AuditedMessage, { seen, copies, stale, loops }: Before): MemoryFinding[] {
  const kinds: MemoryFinding[] = []
  const copy = copyOf(message, seen, copies)
  if (copy !== null) kinds.push(copy)
  if (loops.has(message)) kinds.push('loop')
  if (stale.has(message)) kinds.push('stale')
  if (isTransient(message)) kinds.push('transient')
  if (hasSecret(message)) kinds.push('secret')
  return kinds
}

function copyOf({ role, content }: Message, seen: Set<string>, copies: NearCopies): MemoryFinding | null {
  if (content.length < COPIED_CHARACTERS_MIN) return null
  const key = `${role} ${content}`
  if (seen.has(key)) return 'duplicate'
  seen.add(key)
  const signature = signatureOf(content)
  return signature !== null && copies.isCopy(signature) ? 'near-duplicate' : null
}

/** Text in the place of a user's words that programs wrote, such as a reminder or the state of an editor. */
function isTransient({ role, content }: Message): boolean {
  return role === 'user' && content.trim() !== '' && userSpeechIn(content).trim() === ''
}

function hasSecret({ content, toolCalls }: Message): boolean {
  const texts = [content, ...toolCalls.map((call) => JSON.stringify(call.arguments))]
  return texts.some((text) => {
    const searched = text.slice(0, SECRET_CHARACTERS_MAX)
    return redactSecrets(searched) !== searched
  })
}

/** Results that a later edit, view or equal call in their thread replaced. */
function* staleOf(messages: readonly AuditedMessage[], catalog: ToolCatalog): Pausable<ReadonlySet<Message>> {
  const stale = new Set<Message>()
  for (const own of byThread(messages).values()) {
    const { messages: read, pairs } = readConversation(own)
    const superseded = findSuperseded(toolEvents(read, pairs, catalog))
    for (const message of own) if (superseded.has(message.id)) stale.add(message)
    yield
  }
  return stale
}

/** Messages that repeat the same calls at least for the third time in a row. */
function loopsOf(messages: readonly AuditedMessage[]): ReadonlySet<Message> {
  const loops = new Set<Message>()
  for (const own of byThread(messages).values()) {
    let [last, times] = ['', 0]
    for (const message of own) {
      if (message.toolCalls.length === 0) continue
      const calls = JSON.stringify(message.toolCalls.map((call) => [call.name, call.arguments]))
      times = calls === last ? times + 1 : 1
      last = calls
      if (times >= LOOP_CALLS_MIN) loops.add(message)
    }
  }
  return loops
}

function byThread(messages: readonly AuditedMessage[]): Map<string, Message[]> {
  const threads = new Map<string, Message[]>()
  for (const { threadId, message } of messages) pushTo(threads, threadId, message)
  return threads
}

function pushTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
