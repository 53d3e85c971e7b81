import { errorFromData, HeddleError, type PlacedMessage } from '@heddle/contracts'

/**
 * Rewrites an error to name the invalid message by its index in the append. Messages are sent in jobs and checked in
 * parts, so the error has the index within such a part.
 *
 * @param together the messages to which the error's index refers
 * @param given the messages of the append, in order
 * @returns the same error if it names no message
 */
export function countedAsAppended(
  error: unknown,
  together: readonly PlacedMessage[],
  given: readonly PlacedMessage[],
): unknown {
  return countedAnew(error, (number) => {
    const message = together[number]
    return message === undefined ? -1 : given.indexOf(message)
  })
}

/**
 * Rewrites an error to name the invalid entry, if one entry of the append may be several messages, or several entries
 * one.
 *
 * @param entries for each message the index of its entry; undefined if each entry is a message
 */
export function countedAsEntries(error: unknown, entries: readonly number[] | undefined): unknown {
  return entries === undefined ? error : countedAnew(error, (number) => entries[number] ?? -1)
}

/** Rewrites an error's message index, if the messages came after others of the append. */
export function countedFrom(error: unknown, first: number): unknown {
  return countedAnew(error, (number) => first + number)
}

/**
 * Rewrites an error of a message that is the output of an iteration: `messages.0.iteration.cliUsed` becomes
 * `iterations.3.cliUsed`.
 *
 * @param placeOf maps the index of the message to that of the iteration; below 0 if unknown
 */
export function countedAsIterations(error: unknown, placeOf: (number: number) => number): unknown {
  const counted = countedAnew(error, placeOf)
  if (!(counted instanceof HeddleError) || counted.field === undefined) return counted
  const field = counted.field
    .replace(/^messages\./, 'iterations.')
    .replace(/^(iterations\.\d+)\.(?:iteration\.)?/, '$1.')
    .replace(/\.content$/, '.output')
    .replace(/\.sentAt$/, '.timestamp')
  return errorFromData({ ...counted.toJSON(), field, detail: counted.message.replace(counted.field, field) })
}

/** @param placeOf maps the index in the error to the caller's; below 0 if unknown */
function countedAnew(error: unknown, placeOf: (number: number) => number): unknown {
  if (!(error instanceof HeddleError) || error.field === undefined) return error
  const [, number, rest] = /^messages\.(\d+)(.*)$/.exec(error.field) ?? []
  const place = number === undefined ? -1 : placeOf(Number(number))
  if (place < 0) return error
  const field = `messages.${place}${rest}`
  return errorFromData({ ...error.toJSON(), field, detail: error.message.replace(error.field, field) })
}
