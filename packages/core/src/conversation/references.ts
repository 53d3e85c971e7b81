import { addressNote, limits, validationError } from '@heddle/contracts'

/** A location inside a message. Lines count from 1, both ends included; matches, calls and parts count from 1. */
export type Location =
  | { readonly kind: 'lines'; readonly from: number; readonly to: number }
  | { readonly kind: 'match'; readonly number: number }
  | { readonly kind: 'tool'; readonly number: number }
  | { readonly kind: 'part'; readonly number: number }
  /** The details of the conversation up to the message, line by line. */
  | { readonly kind: 'ledger' }
  /** The artifacts up to a compaction that ended with the message, line by line. */
  | { readonly kind: 'artifacts' }

/** A parsed reference; its target need not exist. */
export interface Reference {
  /** Name of the project; null is the current one. */
  readonly project: string | null
  /** Short code or name of the thread; null is the current one. */
  readonly thread: string | null
  /** Short code of the message, without `msg-`. */
  readonly message: string
  readonly location: Location | null
}

const SCHEME = 'nexora://'
const WRAPPER = '[recall:'
const MARK = 'recall:'
const CURRENT_PROJECT = '_'
const CURRENT_THREAD = 'current'

/** The short form of a message's reference: `msg-xxxxxxxx`. */
export function messageReference(code: string): string {
  return `msg-${code}`
}

/** The tag that a condensed text has in place of the rest: `[recall:msg-xxxxxxxx]`. */
export function recallTag(reference: string): string {
  return `${WRAPPER}${reference}]`
}

/**
 * Writes the URI of a reference (docs/pruning.md#references), `nexora://project/session/msg-xxxxxxxx[:location]`; null
 * stands for the current project or thread. {@link parseReference} reads it back to the same reference, for any names.
 *
 * @throws PermanentError `VALIDATION_ERROR` if a name is empty or not well-formed
 */
export function formatReference(reference: {
  project: string | null
  thread: string | null
  message: string
  location?: Location | null
}): string {
  const { project, thread, message, location } = reference
  const place = location ? `:${formatLocation(location)}` : ''
  const projectPart = project === null ? CURRENT_PROJECT : encodeName('project', project)
  const threadPart = thread === null ? CURRENT_THREAD : encodeName('thread', thread)
  return `${SCHEME}${projectPart}/${threadPart}/${messageReference(message)}${place}`
}

/** `L10`, `L10-50`, `match-3`, `tool-2`, `part-1`, `ledger` or `artifacts`. */
export function formatLocation(location: Location): string {
  switch (location.kind) {
    case 'lines':
      return location.from === location.to ? `L${location.from}` : `L${location.from}-${location.to}`
    case 'match':
    case 'tool':
    case 'part':
      return `${location.kind}-${location.number}`
    case 'ledger':
    case 'artifacts':
      return location.kind
  }
}

/**
 * Parses a reference in any form: the full URI, `nexora://_/current/msg-…`, bare `msg-…`, each with or without a
 * location, and each wrapped as in a condensed text: `[recall:…]`, also where the brackets are missing.
 *
 * @param field the field that had the text, for refusals
 * @throws PermanentError `VALIDATION_ERROR` that names the rule
 */
export function parseReference(text: string, field = 'ref'): Reference {
  const fault = (rule: string) =>
    validationError(
      field,
      rule,
      text,
      `use msg-xxxxxxxx, with :L10-50 if needed, or the whole reference: ${addressNote}`,
    )
  if (text.length > limits.referenceCharactersMax)
    throw fault(`must have at most ${limits.referenceCharactersMax} characters`)
  const plain = unwrapped(text.trim())
  if (plain === '') throw fault('must not be empty')
  if (!plain.startsWith(SCHEME)) {
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(plain)) throw fault(`must begin with ${SCHEME}`)
    return { project: null, thread: null, ...parseMessage(plain, fault) }
  }
  const parts = plain.slice(SCHEME.length).split('/')
  const [project, thread, message] = parts
  if (parts.length !== 3 || project === undefined || thread === undefined || message === undefined) {
    throw fault('must name a project, a thread and a message')
  }
  return {
    project: project === CURRENT_PROJECT ? null : decodeName(project, fault),
    thread: thread === CURRENT_THREAD ? null : decodeName(thread, fault),
    ...parseMessage(message, fault),
  }
}

/** Without a regular expression: one that allows white space on both sides takes cubic time on a text of spaces. */
function unwrapped(text: string): string {
  if (text.startsWith(MARK)) return text.slice(MARK.length).trim()
  const isWrapped = text.startsWith(WRAPPER) && text.endsWith(']')
  return isWrapped ? text.slice(WRAPPER.length, -1).trim() : text
}

type Fault = (rule: string) => Error

function parseMessage(text: string, fault: Fault): Pick<Reference, 'message' | 'location'> {
  const [head = '', ...rest] = text.split(':')
  const code = /^msg-([0-9a-z]{1,52})$/i.exec(head)?.[1]
  if (code === undefined) throw fault('must name a message as msg- and its code of letters and digits')
  if (rest.length === 0) return { message: code.toLowerCase(), location: null }
  const location = parseLocation(rest.join(':'))
  if (location === null)
    throw fault('must end with a location such as L10, L10-50, match-3, tool-2, part-1, ledger or artifacts')
  return { message: code.toLowerCase(), location }
}

/**
 * Parses `L10`, `L10-50`, `match-3`, `tool-2`, `part-1`, `ledger` or `artifacts`; null for any other text, also for line 0 and for a range
 * that ends before it begins.
 */
export function parseLocation(text: string): Location | null {
  if (text === 'ledger' || text === 'artifacts') return { kind: text }
  const lines = /^L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(text)
  if (lines) {
    const from = Number(lines[1])
    const to = Number(lines[2] ?? lines[1])
    return from >= 1 && to >= from ? { kind: 'lines', from, to } : null
  }
  const counted = /^(match|tool|part)-(\d{1,9})$/.exec(text)
  const number = Number(counted?.[2])
  if (!counted || number < 1) return null
  return { kind: counted[1] as 'match' | 'tool' | 'part', number }
}

/** Names that would be read as "the current one", or that URI software would drop, are escaped in full. */
const RESERVED = new Set([CURRENT_PROJECT, CURRENT_THREAD, '.', '..'])

function encodeName(field: string, name: string): string {
  if (name === '' || !name.isWellFormed()) throw validationError(field, 'must be a text that is not empty', name)
  if (!RESERVED.has(name)) return encodeURIComponent(name)
  return Array.from(name, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`).join('')
}

function decodeName(text: string, fault: Fault): string {
  if (text === '') throw fault('must not hold an empty name')
  try {
    return decodeURIComponent(text)
  } catch {
    throw fault('must hold names whose special characters are percent-encoded')
  }
}
