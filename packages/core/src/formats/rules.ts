import { readSlot } from '../parts/slots.js'

/** What the checks of all formats share. Each looks at what is sent, not at what it was made of. */

export type Fields = Readonly<Record<string, unknown>>

/** Faults of one list, each with its place. */
export class FaultList {
  readonly all: string[] = []

  at(index: number, rule: string | null): void {
    if (rule !== null) this.all.push(`message ${index} ${rule}`)
  }

  add(rule: string): void {
    this.all.push(rule)
  }
}

/** Calls that wait for their results, and the ids that were used. */
export class OpenCalls {
  readonly #used = new Set<string>()
  #open = new Set<string>()

  get size(): number {
    return this.#open.size
  }

  /** @returns what is wrong with the id, or null */
  open(id: unknown, rule: RegExp): string | null {
    if (typeof id !== 'string' || !rule.test(id)) return 'has a call id that the provider refuses'
    this.#open.add(id)
    if (this.#used.has(id)) return 'uses a call id for the second time'
    this.#used.add(id)
    return null
  }

  answer(id: unknown): string | null {
    return typeof id === 'string' && this.#open.delete(id) ? null : 'is a result that no open call waits for'
  }

  /** What follows the results, when some are missing. */
  close(): string | null {
    const { size } = this.#open
    this.#open = new Set()
    return size === 0 ? null : `stands before ${size} open calls are answered`
  }
}

/** Base64, an address or a slot: what a provider takes for the bytes of an image or a file. */
export function isMediaText(value: unknown): boolean {
  if (typeof value !== 'string') return false
  if (readSlot(value) !== null) return true
  return /^(?:https?:\/\/\S+|(?:data:[\w.+-]+\/[\w.+-]+;base64,)?[A-Za-z0-9+/]+={0,2})$/.test(value)
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The objects in a list; none where it is no list, or where anything else is in it. */
export function fieldsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) && value.every(isFields) ? value : []
}

export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Servers refuse a request that holds half a surrogate pair as no JSON, names of fields included. */
export function hasBrokenText(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed()
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, field]) => !key.isWellFormed() || hasBrokenText(field))
}

export const BROKEN_TEXT = 'holds half of a surrogate pair'
/** OpenAI refuses longer ids. */
export const OPENAI_CALL_ID = /^.{1,40}$/su
export const OPENAI_NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** OpenAI takes any text as arguments; the servers that speak its language parse them and expect an object. */
export function isObjectText(value: unknown): boolean {
  if (typeof value !== 'string') return false
  try {
    return isFields(JSON.parse(value))
  } catch {
    return false
  }
}
