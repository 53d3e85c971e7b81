import { errorFromData, HeddleError, type PlacedMessage } from '@heddle/contracts'

/**
 * Names the message at fault as the caller counts. Messages travel in jobs and are looked up in parts, and whoever refuses
 * one names its place among those that came together; the caller knows them by their places in the append.
 *
 * @param together the messages among which the error counts
 * @param given the messages of the append, in their order
 * @returns the same error where it names no message
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
 * Names the entry at fault where one entry of the append may be several messages, or several entries one.
 *
 * @param entries for each message the index of its entry; undefined where each entry is a message
 */
export function countedAsEntries(error: unknown, entries: readonly number[] | undefined): unknown {
  return entries === undefined ? error : countedAnew(error, (number) => entries[number] ?? -1)
}

/** Names the message at fault where those that came together stand behind others of the append. */
export function countedFrom(error: unknown, first: number): unknown {
  return countedAnew(error, (number) => first + number)
}

/** @param placeOf gives the place that is to be named, from the one that is; below 0 for none */
function countedAnew(error: unknown, placeOf: (number: number) => number): unknown {
  if (!(error instanceof HeddleError) || error.field === undefined) return error
  const [, number, rest] = /^messages\.(\d+)(.*)$/.exec(error.field) ?? []
  const place = number === undefined ? -1 : placeOf(Number(number))
  if (place < 0) return error
  const field = `messages.${place}${rest}`
  return errorFromData({ ...error.toJSON(), field, detail: error.message.replace(error.field, field) })
}
