import { type FollowedEvent, followedEventSchema, limits, parse } from '@heddle/contracts'
import { platformClock } from '../calls/deadline.js'
import { isWorthRetrying, pauseAfter } from '../calls/retrying.js'
import type { FollowOptions } from '../interface/events.js'
import { requestOf } from './call.js'
import type { Transport } from './transport.js'

/** One event of a stream is only ids and numbers. */
const BLOCK_CHARACTERS_MAX = limits.httpSmallBodyBytesMax

/**
 * Follows the events of the project over server-sent events. A broken stream is reopened with the number of the last
 * event, so events are neither lost nor repeated.
 *
 * @returns once the first stream is open
 */
export async function followOverHttp(
  transport: Transport,
  { signal, topics, thread, agent, after }: FollowOptions,
): Promise<AsyncIterable<FollowedEvent>> {
  const open = (last: number | undefined) =>
    transport.open({
      ...requestOf('followEvents', {
        query: { topics, thread, agent, after: last },
        headers: last === undefined ? {} : { 'last-event-id': String(last) },
      }),
      signal,
    })
  return read(await open(after), open, after, signal)
}

async function* read(
  first: AsyncIterable<string>,
  open: (last: number | undefined) => Promise<AsyncIterable<string>>,
  after: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<FollowedEvent> {
  let stream: AsyncIterable<string> | null = first
  let last = after
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      stream ??= await open(last)
      for await (const { number, event } of blocksOf(stream)) {
        tries = 0
        last = number
        if (event !== null) yield event
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isWorthRetrying(error)) throw error
      await platformClock.wait(pauseAfter(error, tries), signal).catch(() => undefined)
      stream = null
      continue
    }
    // Closed by the server, which may be restarting.
    stream = null
    await platformClock.wait(pauseAfter(null, tries), signal).catch(() => undefined)
  }
}

interface Block {
  readonly number: number
  /** Null if the block only states the start of the stream. */
  readonly event: FollowedEvent | null
}

async function* blocksOf(texts: AsyncIterable<string>): AsyncGenerator<Block> {
  let text = ''
  for await (const piece of texts) {
    text += piece
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const block = blockIn(text.slice(0, end))
      text = text.slice(end + 2)
      if (block !== null) yield block
    }
    if (text.length > BLOCK_CHARACTERS_MAX) throw new RangeError('an event of the stream is too long')
  }
}

/** @returns null for a heartbeat */
function blockIn(text: string): Block | null {
  const id = /^id: ?(\d{1,16})$/m.exec(text)?.[1]
  const data = /^data: ?(.*)$/m.exec(text)?.[1]
  if (data !== undefined) {
    const event = parse(followedEventSchema, JSON.parse(data), 'event')
    return { number: event.number, event }
  }
  return id === undefined ? null : { number: Number(id), event: null }
}
