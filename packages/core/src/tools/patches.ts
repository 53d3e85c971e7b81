import type { FileEffect } from './file-commands.js'

/** Files read per patch; more in one patch are a generated change. */
const FILES_MAX = 100
const FILE_LINE = /^(?:\*\*\* (?:Update|Add|Delete) File: |\*\*\* Move to: |\+\+\+ (?:b\/)?)([^\r\n\t]{1,1000})/gm

/** The files that a patch changes, in order: `*** Update File: F` (Codex) and `+++ b/F` (unified diffs). */
export function patchedPaths(patch: string): string[] {
  const paths = new Set<string>()
  for (const [, path] of patch.matchAll(FILE_LINE)) {
    if (path !== undefined && path !== '/dev/null') paths.add(path.trim())
    if (paths.size === FILES_MAX) break
  }
  return [...paths]
}

const GONE_LINE = /^\*\*\* (Update|Delete) File: ([^\r\n\t]{1,1000})(?:\r?\n\*\*\* Move to: ([^\r\n\t]{1,1000}))?/gm
const DELETING = /^(?:delete|remove)_?file$/i

/** The files that an edit deletes or moves: by a patch, or by a tool or a command of an editor for it. */
export function patchEffects({ name, use, added, fields }: Edit): FileEffect[] {
  if (DELETING.test(name) || fields['command'] === 'delete') return use.paths.map((path) => ({ kind: 'remove', path }))
  return [...added.matchAll(GONE_LINE)].flatMap(([, verb, path = '', to]): FileEffect[] => {
    if (verb === 'Delete') return [{ kind: 'remove', path: path.trim() }]
    return to === undefined ? [] : [{ kind: 'move', path: path.trim(), to: to.trim(), isInto: false }]
  })
}

interface Edit {
  readonly name: string
  readonly use: { readonly paths: readonly string[] }
  /** The text of a patch. */
  readonly added: string
  readonly fields: Readonly<Record<string, unknown>>
}
