import { isWorthRetrying } from '@heddle/client/calls'
import { HeddleError, limits, type PlacedMessage } from '@heddle/contracts'
import { type Clock, Gatherer } from '@heddle/runtime'
import { JSON_CHARACTERS_PER_JOB, type SizedMessage } from './split-append.js'

/** A message that waits for its acknowledgement. */
export interface Entry extends SizedMessage {
  readonly thread: string
  /** Its deadline, by the monotonic clock. */
  readonly endsAtMs: number
}

/** Some messages of one thread, as one job. */
export interface Batch {
  readonly thread: string
  readonly messages: readonly PlacedMessage[]
  readonly jsonCharacters: number
  readonly endsAtMs: number
}

export interface ThreadBatcherOptions {
  readonly clock: Clock
  readonly batchMessagesMax: number
  readonly batchAgeMs: number
  /** Resolves when the batch is acknowledged. */
  send(batch: Batch): Promise<void>
}

/** Sends messages in batches of one thread, one batch at a time, so that they are stored in the order of their arrival. */
export function createThreadBatcher(options: ThreadBatcherOptions): Gatherer<Entry> {
  return new Gatherer<Entry>({
    keyOf: ({ thread }) => thread,
    itemsMax: options.batchMessagesMax,
    weights: [
      { of: ({ characters }) => characters, max: limits.charactersPerJobMax },
      { of: ({ jsonCharacters }) => jsonCharacters, max: JSON_CHARACTERS_PER_JOB },
    ],
    // With two messages of the same id in one job an error could not be attributed to one of them.
    nameOf: ({ placed }) => placed.message.id,
    delayMs: options.batchAgeMs,
    flush: (entries, thread) => options.send(batchOf(entries, thread)),
    // The others are sent first again, with the same ids and positions.
    onRefused: (error, entries) => faultFinder(error, endOf(entries)),
    clock: options.clock,
  })
}

function batchOf(entries: readonly Entry[], thread: string): Batch {
  return {
    thread,
    messages: entries.map(({ placed }) => placed),
    jsonCharacters: entries.reduce((sum, { jsonCharacters }) => sum + jsonCharacters, 0),
    endsAtMs: endOf(entries),
  }
}

function endOf(entries: readonly Entry[]): number {
  return Math.min(...entries.map(({ endsAtMs }) => endsAtMs))
}

/**
 * The messages that an error of a batch concerns: the one that it names; those whose deadline has passed, if the batch was
 * only late; otherwise all of them.
 */
function faultFinder(error: unknown, endsAtMs: number): (entry: Entry, index: number) => boolean {
  if (isWorthRetrying(error)) return (entry) => entry.endsAtMs <= endsAtMs
  const named = error instanceof HeddleError ? /^messages\.(\d+)(?:\.|$)/.exec(error.field ?? '')?.[1] : undefined
  return named === undefined ? () => true : (_entry, index) => index === Number(named)
}
