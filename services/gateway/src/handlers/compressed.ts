import { type CompressResult, mayDo, type Rights } from '@heddle/contracts'

/** The summary is the text of a thread: a caller that only produces does not get it. */
export function readableBy(rights: Rights, compressed: CompressResult): CompressResult {
  return mayDo(rights, 'read') ? compressed : { ...compressed, summary: null }
}
