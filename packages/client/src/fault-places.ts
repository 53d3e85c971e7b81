import { errorFromData, HeddleError, type PlacedMessage } from '@heddle/contracts'

/**
 * Names the message at fault as the caller counts. Messages travel in jobs and are looked up in parts, and whoever refuses
 * one names its place among those that came together; the caller knows them by their places in the append.
 *
 * @param together the messages among which the error counts
 * @param placeOf the place of each message in the append
 * @returns the same error where it names no message
 */
export function countedAsAppended(
  error: unknown,
  together: readonly PlacedMessage[],
  placeOf: ReadonlyMap<PlacedMessage, number>,
): unknown {
  if (!(error instanceof HeddleError) || error.field === undefined) return error
  const [, number, rest] = /^messages\.(\d+)(.*)$/.exec(error.field) ?? []
  const message = number === undefined ? undefined : together[Number(number)]
  const place = message && placeOf.get(message)
  if (place === undefined) return error
  const field = `messages.${place}${rest}`
  return errorFromData({ ...error.toJSON(), field, detail: error.message.replace(error.field, field) })
}
