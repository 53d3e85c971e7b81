import type { Page, PageOptions } from '@heddle/client/interface'
import { type PermanentError, validationError } from '@heddle/contracts'
import { fingerprint } from '@heddle/core'

/**
 * Identifies a list: its kind, and the id of the project, agent or thread that it belongs to. Filters are not included: they
 * narrow a list, and a position in it stays valid.
 */
export interface CursorList {
  readonly kind:
    | 'agents'
    | 'threads'
    | 'processes'
    | 'items'
    | 'snapshots'
    | 'contexts'
    | 'archive'
    | 'summaries'
    | 'messages'
    | 'facts'
    | 'largest'
    | 'audit'
    | 'blocks'
    | 'block-grants'
    | 'ledger'
    | 'proxied-requests'
    | 'proxied-entries'
  readonly ownerId: string
}

/** Enough to recognize cursors of this list; access is checked elsewhere. */
const CHECK_DIGITS = 8

/** A cursor for a position in a list, which other lists refuse. */
export function cursorOf(list: CursorList, place: string): string {
  return Buffer.from(`${check(list, place)}${place}`).toString('base64url')
}

/**
 * The position in a cursor, if one was given.
 *
 * @param form the form of positions in this list, with their parts as groups
 * @throws PermanentError `VALIDATION_ERROR` for a cursor of another list
 */
export function placeAt(list: CursorList, page: PageOptions, form: RegExp): RegExpExecArray | undefined {
  const cursor = cursorIn(page)
  if (cursor === undefined) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  const place = text.slice(CHECK_DIGITS)
  const parts = form.exec(place)
  if (parts === null || cursorOf(list, place) !== cursor) throw noCursor(cursor)
  return parts
}

/** The number of the last message or iteration of the previous page, if a cursor was given. */
export function numberAt(page: PageOptions): number | undefined {
  const cursor = cursorIn(page)
  if (cursor === undefined) return undefined
  if (!/^(0|[1-9]\d{0,14})$/.test(cursor)) throw noCursor(cursor)
  return Number(cursor)
}

/** The cursor of a page, also under its former name. */
export function cursorIn({ cursor, after }: Pick<PageOptions, 'cursor' | 'after'>): string | undefined {
  return cursor ?? after
}

export function noCursor(received: string): PermanentError {
  return validationError('cursor', 'must be the nextCursor of a page of this list', received)
}

/** A position in a list ordered by name. */
export const NAME_PLACE = /^[^\0]+$/

/** A page of a list ordered by name. */
export function pageOf<Item extends { readonly name: string }>(
  items: readonly Item[],
  { list, limit }: { readonly list: CursorList; readonly limit: number },
): Page<Item> {
  const last = items.at(-1)
  return { items, nextCursor: last === undefined || items.length < limit ? null : cursorOf(list, last.name) }
}

function check({ kind, ownerId }: CursorList, place: string): string {
  return fingerprint(`${kind} ${ownerId} ${place}`).slice(0, CHECK_DIGITS)
}
