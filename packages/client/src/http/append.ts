import { type AppendResult, limits, type MessageInput } from '@heddle/contracts'
import { addWarnings } from '../calls/add-warnings.js'
import { type AppendInput, readAppend } from '../calls/append-input.js'
import { countedAsEntries, countedFrom } from '../calls/error-index.js'
import type { AppendMessages, AppendSettings } from '../interface/messages.js'
import { requestOf } from './call.js'
import { DEADLINE_MS_DEFAULT, preferWait, type Transport } from './transport.js'

/** Options of an append over HTTP; messages without `sentAt` get the gateway's time. */
export type RemoteAppendOptions = Omit<AppendSettings, 'startedAtMs' | 'continues'> & AppendMessages

/** Characters of the messages per request; the gateway accepts 64 MiB in any encoding. */
const CHARACTERS_MAX = 8_000_000

/**
 * Appends messages in order, exactly once: each gets its id here, so that a request whose answer was lost can be
 * repeated. Long appends are several requests, in sequence.
 *
 * @throws as the append over the queue does
 */
export async function appendOverHttp(transport: Transport, options: RemoteAppendOptions): Promise<AppendResult> {
  const input = readAppend(options)
  try {
    return await appendRead(transport, input, options)
  } catch (error) {
    throw countedAsEntries(error, input.entries)
  }
}

/** Messages read from a provider's format are sent in Heddle's own, with their ids. */
async function appendRead(
  transport: Transport,
  { agent, thread, messages, chosenIds, newAgentRollingWindow, onUsedId }: AppendInput,
  options: RemoteAppendOptions,
): Promise<AppendResult> {
  const { ack = 'stored', onBusy = ack === 'stored' ? 'wait' : 'fail', deadlineMs = DEADLINE_MS_DEFAULT } = options
  // Ids created here cannot be stored before a request with them was sent.
  const areNew = options.idsAreNew ?? chosenIds.size === 0
  const endsAtMs = performance.now() + deadlineMs
  let total: AppendResult = { threadId: '', stored: 0, repeated: 0 }
  let acknowledged = 0
  for (const some of inRequests(messages)) {
    // At most the given time, even if the clock is set back meanwhile.
    const leftMs = Math.min(deadlineMs, Math.max(1, endsAtMs - performance.now()))
    const request = requestOf('appendMessages', {
      params: { thread },
      body: { agent, messages: some, ack, newAgentRollingWindow, onUsedId },
      // Each message has an id, so no key is needed.
      idempotencyKey: null,
      deadlineMs: leftMs,
      prefer: (leftMs, isFirstTry) =>
        areNew && isFirstTry ? `${preferWait(leftMs)}, ids-are-new` : preferWait(leftMs),
      signal: options.signal,
      retry: onBusy === 'wait' ? 'again' : 'never',
    })
    const { body } = await transport.call<AppendResult>(request).catch((error: unknown) => {
      throw countedFrom(error, acknowledged)
    })
    const warnings = addWarnings(total.warnings, body.warnings)
    total = {
      threadId: body.threadId,
      stored: total.stored + body.stored,
      repeated: total.repeated + body.repeated,
      ...(warnings.length > 0 && { warnings }),
    }
    acknowledged += some.length
    options.onProgress?.(acknowledged)
  }
  return total
}

function inRequests(messages: readonly MessageInput[]): MessageInput[][] {
  const requests: MessageInput[][] = [[]]
  let characters = 0
  for (const message of messages) {
    const size = JSON.stringify(message).length
    const last = requests.at(-1) as MessageInput[]
    const fits = last.length < limits.httpListItemsMax && characters + size <= CHARACTERS_MAX
    if (fits || last.length === 0) last.push(message)
    else requests.push([message])
    characters = fits ? characters + size : size
  }
  return requests
}
