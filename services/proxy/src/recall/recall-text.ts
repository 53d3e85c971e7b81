import { HeddleError, type JsonObject } from '@heddle/contracts'
import type { RecallCall } from '@heddle/core'
import { type Clock, within } from '@heddle/runtime'
import type { ProxyBackend } from '../backend.js'

/** Largest text that one call gets, in tokens. */
const TOKENS_MAX = 50_000
const WAIT_MS = 5_000

export interface RecallFrom {
  readonly thread: string
  readonly client: ReturnType<ProxyBackend['clientOf']> | null
  readonly clock: Clock
}

/** The text for a call of the proxy's own tool. Never rejects: a fault is a text, too, which the model reads. */
export async function recallText({ input }: RecallCall, { thread, client, clock }: RecallFrom): Promise<string> {
  const ref = input === null ? null : referenceIn(input)
  if (ref === null) return 'The call needs a reference, such as {"ref":"msg-4k2m9x7q"}.'
  if (client === null) return UNAVAILABLE
  try {
    const recalling = client.recall({ thread, ref, maxTokens: TOKENS_MAX })
    const recalled = await within(recalling, { timeoutMs: WAIT_MS, late: () => null, clock })
    return recalled === null ? UNAVAILABLE : recalled.content
  } catch (error) {
    return error instanceof HeddleError && error.disposition !== 'retry'
      ? `Not recalled: ${error.message}`
      : UNAVAILABLE
  }
}

const UNAVAILABLE = 'Not recalled: the store does not answer at the moment. Run the tool again that made the result.'

/** The reference in a call, with the lines that it asks for. */
function referenceIn({ ref, from_line: from, to_line: to }: JsonObject): string | null {
  const name = typeof ref === 'string' ? /msg-[0-9a-z]+(?::[\w-]+)?/.exec(ref)?.[0] : undefined
  if (name === undefined) return null
  if (name.includes(':') || !isLine(from)) return name
  return `${name}:L${from}-${isLine(to) ? to : from}`
}

function isLine(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
}
