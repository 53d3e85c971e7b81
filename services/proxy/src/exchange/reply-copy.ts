import type { IncomingMessage } from 'node:http'
import type { JsonObject } from '@heddle/contracts'
import type { Protocol } from '@heddle/core'
import type { Reservation } from '../memory-budget.js'
import { readReply } from '../record/read-reply.js'

/** Longest reply that is copied. */
const BYTES_MAX = 16 * 1024 * 1024

/** A copy of a reply, made while it is relayed. */
export class ReplyCopy {
  readonly #memory: Reservation
  #head: { readonly status: number; readonly contentType: string; readonly encoding: string } | null = null
  #parts: Buffer[] = []
  #bytes = 0
  #isKept = true

  constructor(memory: Reservation) {
    this.#memory = memory
  }

  begin({ statusCode = 0, headers }: IncomingMessage): void {
    const { 'content-type': contentType = '', 'content-encoding': encoding = '' } = headers
    this.#head = { status: statusCode, contentType, encoding }
    // An error is no reply of a model.
    if (statusCode !== 200) this.#drop()
  }

  add(bytes: Buffer): void {
    if (!this.#isKept) return
    this.#bytes += bytes.length
    if (this.#bytes > BYTES_MAX || !this.#memory.reserve(bytes.length)) this.#drop()
    else this.#parts.push(bytes)
  }

  get status(): number {
    return this.#head?.status ?? 0
  }

  /** Null if it was not kept or is not understood. */
  async read(protocol: Protocol): Promise<JsonObject | null> {
    if (!this.#isKept || this.#head === null) return null
    return await readReply(protocol, { ...this.#head, bytes: Buffer.concat(this.#parts) })
  }

  #drop(): void {
    this.#isKept = false
    this.#parts = []
  }
}
