import { countedAsIterations, newId } from '@heddle/client/calls'
import type { AppendIterationsOptions, AppendIterationsResult } from '@heddle/client/interface'
import {
  ConflictError,
  type IterationInput,
  iterationInputSchema,
  type MessageInput,
  nameSchema,
  type PlacedMessage,
  parse,
  validationError,
} from '@heddle/contracts'
import { placedFingerprint, threadIdOf } from '@heddle/core'
import { storedIterations } from '@heddle/store'
import { appendPlaced, patienceOf, place, withoutRepeats } from '../messages/messages.js'
import { JSON_CHARACTERS_PER_JOB, MESSAGES_PER_JOB, measure, split } from '../messages/split-append.js'
import type { EngineContext } from '../setup/options.js'

/**
 * Appends iterations to a thread, in their order, exactly once however often they are sent with the same ids: each as the
 * message with its output, so that it goes the way of messages, with their acknowledgements. A missing thread is created.
 *
 * @throws PermanentError `VALIDATION_ERROR` or `PAYLOAD_TOO_LARGE`, before anything is stored
 * @throws ConflictError if an id is used by another iteration, a number by another id, or the thread by another agent
 * @throws RetryableError as an append of messages does
 */
export async function appendAllIterations(
  parts: EngineContext,
  options: AppendIterationsOptions,
): Promise<AppendIterationsResult> {
  const agent = parse(nameSchema, options.agent, 'agent')
  const thread = parse(nameSchema, options.thread, 'thread')
  const { ack = 'stored', onBusy = ack === 'stored' ? 'wait' : 'fail' } = options
  const threadId = threadIdOf(parts.projectId, thread)
  const placed = placeIterations(parts, threadId, options.iterations)
  const indexOf = new Map(placed.map((one, index) => [one, index]))
  const named = (error: unknown, given: readonly PlacedMessage[]) =>
    countedAsIterations(error, (number) => indexOf.get(given[number] as PlacedMessage) ?? -1)

  const ids = placed.map(({ message }) => message.id)
  const isChosen = options.iterations.some(({ id }) => id !== undefined)
  const stored = ack === 'stored' && isChosen ? await loadStored(parts, threadId, ids) : new Map()
  const fresh = placed.filter((one, index) => !isStored(one, stored.get(one.message.id), index))
  let batches: PlacedMessage[][]
  try {
    const measured = fresh.map((one, index) => measure(one, `messages.${index}`))
    batches = split(withoutRepeats(measured)).map(({ messages }) => messages)
  } catch (error) {
    throw named(error, fresh)
  }
  if (ack === 'queued' && batches.length > 1) refuseUnnumbered(placed)
  if (batches.length === 0) batches.push([])
  const sending = { ...patienceOf(parts, options), ack, waitsForCapacity: onBusy === 'wait' }
  let count = 0
  // One after the other: iterations without numbers get them in the order in which they are stored.
  for (const given of batches) {
    try {
      const appended = await appendPlaced(parts, { agent, thread, given, chosenIds: new Set() }, sending)
      count += appended.stored
    } catch (error) {
      throw named(error, given)
    }
  }
  const numbers = ack === 'stored' ? await loadStored(parts, threadId, ids) : null
  return {
    threadId,
    stored: count,
    repeated: placed.length - count,
    iterationNumbers: numbers === null ? [] : ids.flatMap((id) => numbers.get(id)?.number ?? []),
  }
}

function placeIterations(
  parts: EngineContext,
  threadId: string,
  iterations: AppendIterationsOptions['iterations'],
): PlacedMessage[] {
  const inputs = iterations.map((iteration, index) =>
    parse(iterationInputSchema, { ...iteration, id: iteration.id ?? newId() }, `iterations.${index}`),
  )
  const messages = inputs.map(({ id, output, timestamp }): MessageInput => {
    const message: MessageInput = { id, role: 'assistant', content: output }
    return timestamp === undefined ? message : { ...message, sentAt: timestamp }
  })
  const placed = place(parts, threadId, { messages, startedAtMs: undefined, continues: false })
  return placed.map((one, index) => {
    const { id: _, output: __, timestamp: ___, ...iteration } = inputs[index] as IterationInput
    return { ...one, iteration }
  })
}

type Stored = Awaited<ReturnType<typeof storedIterations>>

function loadStored({ store, projectId }: EngineContext, threadId: string, ids: readonly string[]): Promise<Stored> {
  return store.inProject(projectId, (tx) => storedIterations(tx, { threadId, ids }))
}

/** @throws ConflictError if another iteration has the id */
function isStored(placed: PlacedMessage, stored: ReturnType<Stored['get']>, index: number): boolean {
  if (stored === undefined) return false
  if (stored.isErased) return true
  const number = placed.iteration?.iterationNumber
  const hasItsNumber = number === undefined || number === stored.number
  if (hasItsNumber && stored.fingerprint === placedFingerprint(placed)) return true
  throw new ConflictError(`iteration id ${placed.message.id} is used by another iteration of this thread`, {
    field: `iterations.${index}.id`,
    received: placed.message.id,
    hint: 'Give each iteration its own id and number, or omit both; a repeat must be equal in every field.',
  })
}

/** @throws PermanentError `VALIDATION_ERROR`: jobs in a queue are stored in any order */
function refuseUnnumbered(placed: readonly PlacedMessage[]): void {
  const index = placed.findIndex(({ iteration }) => iteration?.iterationNumber === undefined)
  if (index < 0) return
  throw validationError(
    `iterations.${index}.iterationNumber`,
    `is needed with ack queued in an append of more than one job: ${MESSAGES_PER_JOB} iterations or ${JSON_CHARACTERS_PER_JOB} characters`,
    'none',
    'Give the numbers, send shorter appends, or use ack stored.',
  )
}
