import { hash } from 'node:crypto'
import type { ProxyMode } from '@heddle/contracts'
import type { ExchangeDeps } from './deps.js'
import { prepare } from './prepare.js'
import { noteSent, type Sending, unchanged } from './send.js'
import { type ReceivedRequest, type Understood, understand } from './understand.js'

/** How a request is sent, and why it is not sent as its mode says. */
export interface Decision {
  /** Null if the request is not understood. */
  readonly sending: Sending | null
  readonly passed: string | null
  /** Whether its conversation stays unchanged for comparison. */
  readonly isControl: boolean
}

/** For a request that is sent already, as it came. Never rejects. */
export async function observe(deps: ExchangeDeps, received: ReceivedRequest): Promise<Decision> {
  try {
    const found = await understand(deps, received)
    return found === null ? NOT_UNDERSTOOD : asItCame(deps, found, null)
  } catch (error) {
    return failed(deps, error)
  }
}

/** For a request that waits to be sent. Never rejects. */
export async function decide(deps: ExchangeDeps, received: ReceivedRequest, mode: ProxyMode): Promise<Decision> {
  try {
    const found = await understand(deps, received)
    if (found === null) return NOT_UNDERSTOOD
    if (isControl(deps.control, found)) return { ...asItCame(deps, found, null), isControl: true }
    const prepared = await prepare(deps, found, mode)
    if ('passed' in prepared) return asItCame(deps, found, prepared.passed)
    noteSent(deps, prepared.sending)
    return { sending: prepared.sending, passed: null, isControl: false }
  } catch (error) {
    return failed(deps, error)
  }
}

const NOT_UNDERSTOOD: Decision = { sending: null, passed: 'not-understood', isControl: false }

function asItCame(deps: ExchangeDeps, found: Understood, passed: string | null): Decision {
  const sending = unchanged(deps, found)
  noteSent(deps, sending)
  return { sending, passed, isControl: false }
}

function failed({ log }: ExchangeDeps, error: unknown): Decision {
  log.error({ error }, 'a request could not be planned; it is relayed as it came')
  return { sending: null, passed: 'failed', isControl: false }
}

/** Whether a conversation is one of those that stay unchanged for comparison; the same for all of its requests. */
function isControl(share: number, { conversation }: Understood): boolean {
  if (share === 0) return false
  return hash('sha256', `control ${conversation.threadId}`, 'buffer').readUInt32BE(0) / 2 ** 32 < share
}
