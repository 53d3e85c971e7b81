import { readSlot } from '../parts/slots.js'

/** Checks shared by all formats. Each reads the rendered messages, not their sources. */

export type Fields = Readonly<Record<string, unknown>>

export class FaultList {
  readonly all: string[] = []

  at(index: number, rule: string | null): void {
    if (rule !== null) this.all.push(`message ${index} ${rule}`)
  }

  add(rule: string): void {
    this.all.push(rule)
  }
}

/** Calls that wait for their results, and the ids used so far. */
export class OpenCalls {
  readonly #used = new Set<string>()
  #open = new Set<string>()

  get size(): number {
    return this.#open.size
  }

  /** @returns the fault of the id, or null */
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

  /** A fault if a message follows while results are missing. */
  close(): string | null {
    const { size } = this.#open
    this.#open = new Set()
    return size === 0 ? null : `comes before ${size} open calls are answered`
  }
}

/** Base64, a URL or a slot: the values that a provider accepts as the bytes of an image or a file. */
export function isMediaText(value: unknown): boolean {
  if (typeof value !== 'string') return false
  if (readSlot(value) !== null) return true
  return /^(?:https?:\/\/\S+|(?:data:[\w.+-]+\/[\w.+-]+;base64,)?[A-Za-z0-9+/]+={0,2})$/.test(value)
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The objects in a list; empty if it is not a list, or contains anything else. */
export function fieldsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) && value.every(isFields) ? value : []
}

export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Servers refuse a request with half a surrogate pair, also in a field name, as invalid JSON. */
export function hasBrokenText(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed()
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, field]) => !key.isWellFormed() || hasBrokenText(field))
}

export const BROKEN_TEXT = 'holds half of a surrogate pair'
/** OpenAI refuses longer ids. */
export const OPENAI_CALL_ID = /^.{1,40}$/su
export const OPENAI_NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** OpenAI accepts any text as arguments; compatible servers parse them and expect an object. */
export function isObjectText(value: unknown): boolean {
  if (typeof value !== 'string') return false
  try {
    return isFields(JSON.parse(value))
  } catch {
    return false
  }
}
