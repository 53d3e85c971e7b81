import type { Page, PageOptions } from '@heddle/client/interface'
import { type PermanentError, validationError } from '@heddle/contracts'
import { fingerprint } from '@heddle/core'

/**
 * What tells one list from every other: its kind, and the id of the project, the agent or the thread that it belongs to. Filters
 * are no part of it: they narrow a list, and a place in it stays a place.
 */
export interface CursorList {
  readonly kind: 'agents' | 'threads' | 'processes' | 'items' | 'snapshots' | 'contexts' | 'archive'
  readonly ownerId: string
}

/** Enough to tell a cursor of this list from every other text; what a caller may read is decided elsewhere. */
const CHECK_DIGITS = 8

/** A cursor that names a place in a list, and that no other list takes for one of its own. */
export function cursorOf(list: CursorList, place: string): string {
  return Buffer.from(`${check(list, place)}${place}`).toString('base64url')
}

/**
 * The place that a cursor names, if one was given.
 *
 * @param form what a place of this list looks like, with its parts as groups
 * @throws PermanentError `VALIDATION_ERROR` where the list did not give that cursor
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

/** The number of the last message or iteration of the page before, if a cursor was given. */
export function numberAt(page: PageOptions): number | undefined {
  const cursor = cursorIn(page)
  if (cursor === undefined) return undefined
  if (!/^(0|[1-9]\d{0,14})$/.test(cursor)) throw noCursor(cursor)
  return Number(cursor)
}

/** The cursor of a page, also under the name that it had. */
export function cursorIn({ cursor, after }: Pick<PageOptions, 'cursor' | 'after'>): string | undefined {
  return cursor ?? after
}

export function noCursor(received: string): PermanentError {
  return validationError('cursor', 'must be the nextCursor of a page of this list', received)
}

/** A place of a list that is in the order of names. */
export const NAME_PLACE = /^[^\0]+$/

/** A page of a list that is in the order of names. */
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
