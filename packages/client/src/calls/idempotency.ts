import { validationError } from '@heddle/contracts'
import { v5 } from 'uuid'

/** Separates ids derived from keys from all other ids. */
const NAMESPACE = '0d0c3f39-7a3a-4a53-9a0f-0a4c7f6c2b11'

const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

export type KeyedKind = 'message' | 'iteration' | 'snapshot' | 'clear' | 'context' | 'block'

/** @throws PermanentError `VALIDATION_ERROR` with the caller's name for the key */
export function checkIdempotencyKey(key: string, field = 'idempotencyKey'): string {
  if (KEY.test(key)) return key
  throw validationError(field, 'must be 1 to 255 printable ASCII characters', key)
}

/**
 * Derives ids from an idempotency key and the positions of the items sent. Stored ids prevent a second write, so no
 * further state is needed, and a key is valid as long as the rows stored under it.
 *
 * @param scope the scope of the key, such as a thread: the same key is unrelated in another
 * @throws PermanentError `VALIDATION_ERROR`
 */
export function idsOfKey(key: string, kind: KeyedKind, scope: string): (index: number) => string {
  const namespace = v5(`${kind} ${scope}`, NAMESPACE)
  return (index) => v5(`${index} ${checkIdempotencyKey(key)}`, namespace)
}

/**
 * The id of a message that has one at its source: the same each time it is appended to a thread of that name.
 *
 * @param identity identifies it among all messages of its source
 */
export function idOfSource(identity: string, thread: string): string {
  return v5(identity, v5(`source ${thread}`, NAMESPACE))
}
