import { validationError } from '@heddle/contracts'
import { v5 } from 'uuid'

/** Keeps ids that are made of keys apart from all other ids. */
const NAMESPACE = '0d0c3f39-7a3a-4a53-9a0f-0a4c7f6c2b11'

const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

/**
 * Makes the ids of a request's entries from its `Idempotency-Key` and their places. Ids are what makes an append happen
 * once, so nothing needs to be kept for it, and a key holds for as long as what was stored under it.
 *
 * @param header undefined where the caller sent none: then there are no ids
 * @throws PermanentError `VALIDATION_ERROR`
 */
export function createIds(
  header: string | string[] | undefined,
  kind: 'message' | 'iteration',
  thread: string,
): (index: number) => string | undefined {
  if (header === undefined) return () => undefined
  const key = String(header)
  if (!KEY.test(key)) throw validationError('idempotency-key', 'must be 1 to 255 printable ASCII characters', key)
  const namespace = v5(`${kind} ${thread}`, NAMESPACE)
  return (index) => v5(`${index} ${key}`, namespace)
}
