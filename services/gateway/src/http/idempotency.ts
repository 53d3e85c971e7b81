import { checkIdempotencyKey, idsOfKey, type KeyedKind } from '@heddle/client/calls'

type Header = string | string[] | undefined

/** @throws PermanentError `VALIDATION_ERROR` for an `Idempotency-Key` that is none */
export function readKey(header: Header): string | undefined {
  return header === undefined ? undefined : checkIdempotencyKey(String(header), 'idempotency-key')
}

/**
 * Makes the ids of a request's entries from its `Idempotency-Key` and their places.
 *
 * @param header undefined where the caller sent none: then there are no ids
 * @throws PermanentError `VALIDATION_ERROR`
 */
export function createIds(header: Header, kind: KeyedKind, thread: string): (index: number) => string | undefined {
  const key = readKey(header)
  return key === undefined ? () => undefined : idsOfKey(key, kind, thread)
}
