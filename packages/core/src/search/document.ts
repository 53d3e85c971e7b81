import type { Role, SearchKind, ToolCall } from '@heddle/contracts'
import type { Message } from '../conversation/message.js'
import { describeToolCall, type ToolCatalog } from '../tools/catalog.js'
import { lastingInstructions, takingsBack } from './instructions/index.js'
import { PassageCutter } from './passages.js'
import { dateTerms } from './terms/date-terms.js'
import { namesTime } from './terms/time-words.js'
import { termsOf } from './terms/words.js'

/** A message as a document of the word index. */
export interface SearchDocument {
  /**
   * The passages with each term, and how often: pairs of numbers, ascending by passage. Terms that begin with `=` are
   * properties of the message, once in its first passage.
   */
  readonly terms: ReadonlyMap<string, readonly number[]>
  /** Number of terms with repetitions, without those that begin with `=`. */
  readonly length: number
  /** Whether a model wrote it: see `isReply` of a measure. */
  readonly isReply: boolean
  /** The passages that name a time. */
  readonly dated: ReadonlySet<number>
}

/** Characters of one message that are indexed: a tenth of a second of work. Later ones are not found. */
export const DOCUMENT_CHARACTERS_MAX = 1_000_000

/** Distinct terms of one document. A text with more is likely a table of hashes. */
export const DOCUMENT_TERMS_MAX = 50_000

/** No word begins with this sign, so a document's properties are indexed beside its words. */
export const kindTerm = (kind: SearchKind) => `=kind ${kind}`
export const speakerTerm = (term: string) => `=by ${term}`

/** A message of a person with a lasting instruction: see `lastingInstructions`. */
export const INSTRUCTION_TERM = '=says instruction'
/** A message of a person that takes an instruction back: see `takingsBack`. */
export const TAKING_BACK_TERM = '=says taking-back'

/** Limits on paths of one document that a search can be narrowed to, and on characters of a path segment. */
const PATHS_MAX = 20
const PATH_PARTS_MAX = 32
const PATH_PART_CHARACTERS_MAX = 100

/** The segments of a path, and each pair of adjacent segments: a path that has all terms of a folder is in it. */
export function pathTerms(path: string): string[] {
  const parts = path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .slice(-PATH_PARTS_MAX)
    .map((part) => part.slice(0, PATH_PART_CHARACTERS_MAX).toWellFormed())
  if (parts.length === 1) return parts.map((part) => `=in ${part}`)
  return parts.slice(1).map((part, index) => `=in ${parts[index]}/${part}`)
}

type DocumentMessage = Pick<Message, 'role' | 'content' | 'toolCalls' | 'toolName' | 'parts'> & {
  /** From which a date such as "yesterday" counts; null if the client did not say. */
  readonly sentAtMs?: number | null
  readonly metadata?: Readonly<Record<string, unknown>> | null
}

/**
 * The words of a message: its text, the values of its calls, and for a result the name of its tool and the paths in its
 * call, since a result seldom names its subject.
 *
 * @param call the call that a result answers; null if unknown
 */
export function searchDocument(
  message: DocumentMessage,
  { call, catalog }: { call: ToolCall | null; catalog: ToolCatalog },
): SearchDocument {
  const use = call === null ? null : describeToolCall(call, catalog)
  const terms = new Map<string, number[]>()
  const dated = new Set<number>()
  let length = 0
  let charactersLeft = DOCUMENT_CHARACTERS_MAX
  const passages = new PassageCutter()
  for (const text of textsOf(message, use?.paths ?? [])) {
    for (const piece of passages.cut(text.slice(0, charactersLeft))) {
      for (const term of termsOf(piece)) {
        addTerm(terms, term, passages.number)
        length++
      }
      if (!namesTime(piece)) continue
      dated.add(passages.number)
      for (const term of dateTerms(piece, message.sentAtMs ?? null)) addTerm(terms, term, passages.number)
    }
    charactersLeft = Math.max(0, charactersLeft - text.length)
  }
  const { role } = message
  const speaker = [...termsOf(speakerOf(message))]
  const properties = [
    kindTerm(role === 'tool_result' ? (use?.kind ?? 'other') : kindOfRole(role)),
    ...speaker.map(speakerTerm),
    ...[...(use?.paths ?? []), ...message.toolCalls.flatMap((made) => describeToolCall(made, catalog).paths)]
      .slice(0, PATHS_MAX)
      .flatMap((path) => [path, ...path.split('/')].flatMap(pathTerms)),
  ]
  for (const property of properties) terms.set(property, ONCE)
  // A named speaker is a person, whatever the role.
  const isReply = (role === 'assistant' || role === 'tool_use') && speaker.length === 0
  const isOfPerson = role === 'user' || (role === 'assistant' && !isReply)
  if (isOfPerson && lastingInstructions(message.content).length > 0) terms.set(INSTRUCTION_TERM, ONCE)
  if (isOfPerson && takingsBack(message.content).length > 0) terms.set(TAKING_BACK_TERM, ONCE)
  return { terms, length, isReply, dated }
}

/** Once in the first passage. */
const ONCE = [0, 1]

function addTerm(terms: Map<string, number[]>, term: string, passage: number): void {
  const places = terms.get(term)
  if (places === undefined) {
    if (terms.size < DOCUMENT_TERMS_MAX) terms.set(term, [passage, 1])
    return
  }
  const last = places.length - 1
  if (places[last - 1] === passage) places[last] = (places[last] ?? 0) + 1
  else places.push(passage, 1)
}

function* textsOf(
  { content, toolCalls, toolName, parts = [] }: DocumentMessage,
  paths: readonly string[],
): Generator<string> {
  if (toolName !== null) yield toolName
  yield* paths
  yield content
  for (const { type, mediaType = '', name = '', url = '' } of parts) yield `${type} ${mediaType} ${name} ${url}`
  for (const { name, arguments: given } of toolCalls) {
    yield name
    yield* valuesOf(given)
  }
}

function* valuesOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'number') yield String(value)
  else if (value !== null && typeof value === 'object') for (const part of Object.values(value)) yield* valuesOf(part)
}

/** The kind of a message by its role; that of a result depends on its tool. */
export function kindOfRole(role: Exclude<Role, 'tool_result'>): SearchKind {
  return role === 'tool_use' ? 'assistant' : role
}

const SPEAKER_CHARACTERS_MAX = 200

/** The speaker, if the metadata name one, as in chats with several people; else empty. */
export function speakerOf({ metadata }: Pick<DocumentMessage, 'metadata'>): string {
  for (const field of ['name', 'speaker', 'author']) {
    const name = metadata?.[field]
    if (typeof name === 'string' && name.length <= SPEAKER_CHARACTERS_MAX) return name
  }
  return ''
}
