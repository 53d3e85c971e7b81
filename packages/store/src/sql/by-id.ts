import { shortCode } from '@heddle/core'
import type { PendingQuery, Row } from 'postgres'
import type { Tx } from '../connection/connection.js'
import { asArray } from './arrays.js'

/** Sorts after every letter and digit of a code: the codes with a prefix are those up to the prefix with this. */
export const AFTER_ALL_LETTERS = '~'

/*
 * Messages have no index of their ids: the code of a message follows from its id, but for characters that were added to a code that
 * was taken, and the index of codes finds both. An index of ids would be a fifth of what a short message takes.
 */

/** Some ids with the range of their codes: `from ${givenIds(tx, ids)}` has the columns of {@link byId} as `given`. */
export function givenIds(tx: Tx, ids: Iterable<string>) {
  const all = [...ids]
  const codes = all.map((id) => shortCode(id))
  return tx`unnest(
    ${asArray(all)}::uuid[], ${asArray(codes)}::text[], ${asArray(codes.map((code) => code + AFTER_ALL_LETTERS))}::text[]
  ) as given (id, code, code_end)`
}

/**
 * The same for an id that a row holds. Apart from the comparison and behind an offset: under row-level security a comparison
 * finds rows by an index only where nothing in it can fail.
 */
export function givenId(tx: Tx, id: PendingQuery<Row[]>) {
  return tx`(
    select ${id} as id, heddle.message_code(${id}) as code, heddle.message_code(${id}) || '~' as code_end
    offset 0) as given`
}

/**
 * The condition for a message of a thread by its id, beside that for the thread. With an order and an offset as
 * {@link byKey} has them.
 *
 * @param table its alias
 */
export function byId(tx: Tx, table: PendingQuery<Row[]>) {
  return tx`
    ${table}.code between given.code and given.code_end and ${table}.id = given.id order by ${table}.code offset 0`
}
