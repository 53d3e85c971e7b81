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
  if (!(error instanceof HeddleError) || error.field === undefined) return error
  const [, number, rest] = /^messages\.(\d+)(.*)$/.exec(error.field) ?? []
  const message = number === undefined ? undefined : together[Number(number)]
  const place = message === undefined ? -1 : given.indexOf(message)
  if (place < 0) return error
  const field = `messages.${place}${rest}`
  return errorFromData({ ...error.toJSON(), field, detail: error.message.replace(error.field, field) })
}
