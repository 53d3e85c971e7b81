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
