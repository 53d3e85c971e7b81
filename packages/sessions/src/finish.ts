import type { DraftMessage } from '@heddle/client/forms'
import { messageInputSchema, PermanentError, parse } from '@heddle/contracts'
import { messageFingerprint, NIL_ID } from '@heddle/core'
import { detailsOf } from './fault-details.js'
import { HashTable } from './hash-table.js'
import type { Draft, ParsedMessage } from './parsed.js'

/** Checks the messages of a file, and assigns their identities and the names of their tools, by thread. */
export class Finisher {
  /** Number of messages in each thread so far. */
  readonly #counts: number[] = []
  /** By thread and identity, the number of the next message with the same one. */
  readonly #identities = new HashTable()
  /** By thread and call id, the tool's number; a later call with the same id replaces the earlier. */
  readonly #toolOfCall = new HashTable()
  readonly #tools: string[] = []
  readonly #numberOfTool = new Map<string, number>()

  /** @throws PermanentError `VALIDATION_ERROR` or `PAYLOAD_TOO_LARGE` that names the place */
  finish({ thread, message }: Draft): ParsedMessage {
    const index = this.#counts[thread] ?? 0
    this.#counts[thread] = index + 1
    const input = checked(message)
    for (const { id, name } of input.toolCalls ?? []) this.#toolOfCall.set(`${thread} ${id}`, this.#number(name))
    const toolName = input.toolName ?? this.#toolNameOf(thread, input.toolCallId)
    const own = message.identity ?? contentIdentity(input, index)
    const identity = this.#unique(thread, own)
    return { id: message.id ?? null, identity, input: { ...input, ...(toolName !== undefined && { toolName }) } }
  }

  #number(tool: string): number {
    const known = this.#numberOfTool.get(tool)
    if (known !== undefined) return known
    this.#numberOfTool.set(tool, this.#tools.length)
    return this.#tools.push(tool) - 1
  }

  #toolNameOf(thread: number, callId: string | undefined): string | undefined {
    const number = callId === undefined ? undefined : this.#toolOfCall.get(`${thread} ${callId}`)
    return number === undefined ? undefined : this.#tools[number]
  }

  #unique(thread: number, own: string): string {
    const key = (identity: string) => `${thread} ${identity}`
    const next = this.#identities.get(key(own))
    let identity = own
    let count = next ?? 1
    for (; this.#identities.has(key(identity)); count++) identity = `${own} (${count})`
    if (next !== undefined) this.#identities.set(key(own), count)
    this.#identities.set(key(identity), 2)
    return identity
  }
}

function checked({ place, input }: DraftMessage): ParsedMessage['input'] {
  try {
    const { id: _, ...valid } = parse(messageInputSchema, { ...input, id: NIL_ID }, place)
    return valid
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error
    throw new PermanentError(error.code, error.message, { ...detailsOf(error), field: place })
  }
}

/** A hash of the content fields only, so that reading more fields in the future does not change it. */
function contentIdentity(
  { role, content, parts, toolCalls, toolCallId }: ParsedMessage['input'],
  index: number,
): string {
  const hash = messageFingerprint({
    id: NIL_ID,
    role,
    content,
    ...(parts !== undefined && { parts }),
    ...(toolCalls !== undefined && { toolCalls }),
    ...(toolCallId !== undefined && { toolCallId }),
  })
  return `${index}-${hash}`
}
