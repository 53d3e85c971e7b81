import { validationError } from '@heddle/contracts'
import { v5 } from 'uuid'

/** Keeps ids that are made of keys apart from all other ids. */
const NAMESPACE = '0d0c3f39-7a3a-4a53-9a0f-0a4c7f6c2b11'

const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

export type KeyedKind = 'message' | 'iteration' | 'snapshot' | 'clear'

/** @throws PermanentError `VALIDATION_ERROR` with the name by which the caller knows the key */
export function checkIdempotencyKey(key: string, field = 'idempotencyKey'): string {
  if (KEY.test(key)) return key
  throw validationError(field, 'must be 1 to 255 printable ASCII characters', key)
}

/**
 * Makes the ids of what a caller sends from its idempotency key and their places. Ids are what makes a write happen once, so
 * nothing needs to be kept for it, and a key holds for as long as what was stored under it.
 *
 * @param scope what the key is of, such as a thread: the same key says nothing in another
 * @throws PermanentError `VALIDATION_ERROR`
 */
export function idsOfKey(key: string, kind: KeyedKind, scope: string): (index: number) => string {
  const namespace = v5(`${kind} ${scope}`, NAMESPACE)
  return (index) => v5(`${index} ${checkIdempotencyKey(key)}`, namespace)
}

/**
 * The id of a message that has one where it comes from: the same each time that it is appended to a thread of the name.
 *
 * @param identity what tells it from all others of its source
 */
export function idOfSource(identity: string, thread: string): string {
  return v5(identity, v5(`source ${thread}`, NAMESPACE))
}
