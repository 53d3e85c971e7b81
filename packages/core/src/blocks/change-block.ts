import {
  type InsertBlock,
  PermanentError,
  type PutBlock,
  type ReplaceBlock,
  type RethinkBlock,
  validationError,
} from '@heddle/contracts'
import type { BlockContent } from './block.js'

/** Characters of a new block whose limit was not given. */
const CHARACTERS_MAX_DEFAULT = 5_000

const NEW_BLOCK: BlockContent = { value: '', description: '', charactersMax: CHARACTERS_MAX_DEFAULT, readOnly: false }

/** A change of a block's content; `ifVersion` was checked before. */
export type BlockChange =
  | ({ readonly kind: 'put' } & PutBlock)
  | ({ readonly kind: 'insert' } & InsertBlock)
  | ({ readonly kind: 'replace' } & ReplaceBlock)
  | ({ readonly kind: 'rethink' } & RethinkBlock)

/**
 * The content after a change, or the same object if nothing changes.
 *
 * @param current null if there is no block, which only `put` creates
 * @throws PermanentError `VALIDATION_ERROR`, also for a value that is longer than the limit; `FORBIDDEN` if the block is read-only
 */
export function changeBlock(current: BlockContent | null, change: BlockChange): BlockContent {
  const before = current ?? NEW_BLOCK
  if (change.kind !== 'put' && before.readOnly) throw readOnlyError()
  const after = contentAfter(before, change)
  const field = FIELD_OF_VALUE[change.kind]
  if (after.value.length > after.charactersMax) throw tooLong(field, after)
  return current !== null && isSame(before, after) ? current : after
}

const FIELD_OF_VALUE = { put: 'value', insert: 'text', replace: 'newText', rethink: 'value' } as const

function contentAfter(before: BlockContent, change: BlockChange): BlockContent {
  switch (change.kind) {
    case 'put':
      return {
        value: change.value ?? before.value,
        description: change.description ?? before.description,
        charactersMax: change.limit ?? before.charactersMax,
        readOnly: change.readOnly ?? before.readOnly,
      }
    case 'insert':
      return { ...before, value: withInserted(before.value, change) }
    case 'replace':
      return { ...before, value: withReplaced(before.value, change) }
    case 'rethink':
      return { ...before, value: change.value }
  }
}

function withInserted(value: string, { text, afterLine }: InsertBlock): string {
  const lines = value === '' ? [] : value.split('\n')
  const at = afterLine ?? lines.length
  if (at > lines.length)
    throw validationError('afterLine', `must be at most ${lines.length}, the lines of the block`, at)
  return [...lines.slice(0, at), text, ...lines.slice(at)].join('\n')
}

function withReplaced(value: string, { oldText, newText }: ReplaceBlock): string {
  const at = value.indexOf(oldText)
  if (at < 0) throw notOnce(oldText, 'the block does not have it', 'Copy it from the block as it is now.')
  if (value.indexOf(oldText, at + 1) >= 0)
    throw notOnce(oldText, 'it occurs more than once', 'Give more of the text around it.')
  return `${value.slice(0, at)}${newText}${value.slice(at + oldText.length)}`
}

function notOnce(oldText: string, found: string, hint: string): PermanentError {
  return validationError('oldText', `must occur once in the block: ${found}`, oldText, hint)
}

function tooLong(field: string, { value, charactersMax }: BlockContent): PermanentError {
  const rule = `the block may have ${charactersMax} characters, and would have ${value.length}`
  return new PermanentError('VALIDATION_ERROR', `${field}: ${rule}`, {
    field,
    received: `${value.length} characters`,
    hint: 'Shorten the block: rethink writes it anew, replace takes out a part.',
  })
}

/** Models may not change it: people take the mark away with `put`. */
export function readOnlyError(): PermanentError {
  return new PermanentError('FORBIDDEN', 'the block is read-only', {
    field: 'label',
    hint: 'An admin may put it with "readOnly": false.',
  })
}

function isSame(left: BlockContent, right: BlockContent): boolean {
  return (
    left.value === right.value &&
    left.description === right.description &&
    left.charactersMax === right.charactersMax &&
    left.readOnly === right.readOnly
  )
}
