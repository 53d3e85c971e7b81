import { checkIdempotencyKey, idsOfKey, type KeyedKind } from '@heddle/client/calls'

type Header = string | string[] | undefined

/** @throws PermanentError `VALIDATION_ERROR` for an invalid `Idempotency-Key` */
export function readKey(header: Header): string | undefined {
  return header === undefined ? undefined : checkIdempotencyKey(String(header), 'idempotency-key')
}

/**
 * Derives the ids of a request's entries from its `Idempotency-Key` and their positions.
 *
 * @param header undefined if the caller sent no key: then no ids are derived
 * @throws PermanentError `VALIDATION_ERROR`
 */
export function createIds(header: Header, kind: KeyedKind, thread: string): (index: number) => string | undefined {
  const key = readKey(header)
  return key === undefined ? () => undefined : idsOfKey(key, kind, thread)
}
