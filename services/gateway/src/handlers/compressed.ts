import { type AccessRole, type CompressResult, permissionsOf } from '@heddle/contracts'

/** The summary is the text of a thread: a caller that only produces does not get it. */
export function readableBy(role: AccessRole, compressed: CompressResult): CompressResult {
  return permissionsOf[role].includes('read') ? compressed : { ...compressed, summary: null }
}
