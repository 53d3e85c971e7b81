import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { nameSchema } from '@heddle/contracts'
import { type ProviderRequest, parseAt, readEntryAt } from '@heddle/core'

/** Headers by which clients say which of their sessions a request belongs to. */
const SESSION_HEADERS = ['x-claude-code-session-id', 'session_id', 'session-id', 'x-session-id'] as const
/** Fields of bodies that say the same. */
const SESSION_FIELDS: ReadonlySet<string> = new Set(['metadata', 'prompt_cache_key'])
/** Fields with the instructions of an agent; chat completions have them in their list. */
const INSTRUCTIONS: ReadonlySet<string> = new Set(['system', 'instructions'])
const FIELD_BYTES_MAX = 4_096

/** The thread that a caller names; null without a name, or with one that is not valid. */
export function threadNamedIn(headers: IncomingHttpHeaders): string | null {
  return nameNamedIn(headers, 'x-heddle-thread')
}

/** The agent of requests that name no other. */
const DEFAULT_AGENT = 'proxy'

/** The agent that a caller names. */
export function agentNamedIn(headers: IncomingHttpHeaders): string {
  return nameNamedIn(headers, 'x-heddle-agent') ?? DEFAULT_AGENT
}

function nameNamedIn(headers: IncomingHttpHeaders, header: string): string | null {
  return nameOf(headers[header])
}

/** A value as a name; null if it is not a valid one. */
export function nameOf(value: unknown): string | null {
  const parsed = nameSchema.safeParse(value)
  return parsed.success ? parsed.data : null
}

/** A session that a client names, with the facts of a request by which its conversations are distinguished. */
export interface ClientSession {
  /** A hash of its name. */
  readonly session: string
  /** Chain of the first entry that is no instruction. */
  readonly begin: string
  /** The thread of a conversation that began with it. */
  readonly thread: string
  /** A hash of the first words of its instructions; null without any. */
  instructions(): string | null
  /** Whether it begins with the client's own summary of a longer conversation. */
  isContinued(): boolean
}

/**
 * The client's session of a request. A session may have several conversations, such as those of sub-agents, which differ in
 * their first message. After a client has compacted a conversation, it has another first message, and the same instructions.
 *
 * @returns null if the request says nothing of a session
 */
export function sessionOf(
  headers: IncomingHttpHeaders,
  request: ProviderRequest,
  body: Uint8Array,
): ClientSession | null {
  const named = sessionIn(headers) ?? sessionInBody(request, body)
  if (named === null) return null
  const begin = request.entries.find(({ kind }) => kind !== 'instruction')?.chain ?? ''
  return {
    session: digest(named),
    begin,
    thread: `proxy-${hash('sha256', `${named} ${begin}`, 'hex').slice(0, 16)}`,
    instructions: () => instructionsOf(request, body),
    isContinued: () => beginsWithSummary(request, body),
  }
}

/** First words of the texts in which clients give their model its own summary of a longer conversation. */
const OWN_SUMMARIES = [
  // Claude Code.
  'This session is being continued from a previous conversation',
  // Codex.
  'Another language model started to solve this problem and produced a summary',
] as const

/** Clients repeat their reminders and earlier words of the user before it, and no reply. */
function beginsWithSummary(request: ProviderRequest, body: Uint8Array): boolean {
  const replied = request.entries.findIndex(({ kind }) => kind === 'assistant')
  const given = replied < 0 ? request.entries : request.entries.slice(0, replied)
  return given.some(({ index, kind }) => {
    if (kind !== 'user') return false
    const texts = textsIn(readEntryAt(request, body, index).value)
    return texts.some((text) => OWN_SUMMARIES.some((words) => text.trimStart().startsWith(words)))
  })
}

function sessionIn(headers: IncomingHttpHeaders): string | null {
  for (const name of SESSION_HEADERS) {
    const value = headers[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

function sessionInBody({ fields }: ProviderRequest, body: Uint8Array): string | null {
  for (const field of fields) {
    if (field.to - field.from > FIELD_BYTES_MAX || !SESSION_FIELDS.has(field.name)) continue
    const session = sessionInField(parseAt(body, field))
    if (session !== null) return session
  }
  return null
}

/** A `prompt_cache_key`, or Anthropic's `metadata.user_id` if it names a session, as that of Claude Code does. */
function sessionInField(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value
  if (value === null || typeof value !== 'object' || !('user_id' in value)) return null
  const { user_id: user } = value
  return typeof user === 'string' ? sessionInText(user.slice(0, 1_000)) : null
}

/** `..._session_<id>`, or a JSON text with the field `session_id`. */
function sessionInText(text: string): string | null {
  return /session_(?:id"\s*:\s*")?[\w-]{8,64}/.exec(text)?.[0] ?? null
}

/** Clients add to their instructions in the middle of a session, such as the state of a repository, at their end. */
const INSTRUCTIONS_CHARACTERS_MAX = 400

/** The longest text is the one that says what the agent is; other ones name the client and its version. */
function instructionsOf(request: ProviderRequest, body: Uint8Array): string | null {
  const named = request.fields.filter(({ name }) => INSTRUCTIONS.has(name))
  const values = named.map((field) => parseAt(body, field))
  const first = request.entries.find(({ kind }) => kind === 'instruction')
  if (first !== undefined) values.push(readEntryAt(request, body, first.index).value)
  const [longest] = values.flatMap(textsIn).toSorted((one, other) => other.length - one.length)
  return longest === undefined ? null : digest(longest.slice(0, INSTRUCTIONS_CHARACTERS_MAX))
}

/** The texts of an entry or of a field: a text itself, a list of blocks, or an object with a content. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (value === null || typeof value !== 'object') return []
  if ('text' in value) return textsIn(value.text)
  return 'content' in value ? textsIn(value.content) : []
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 16)
}
