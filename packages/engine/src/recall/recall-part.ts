import { notFound, type RecallResult } from '@heddle/contracts'
import { describePart } from '@heddle/core'
import { loadMessage, loadPartContents, type Tx } from '@heddle/store'

interface PartPlace {
  readonly threadId: string
  /** Id of the message. */
  readonly id: string
  /** Number of the part, from 1. */
  readonly number: number
}

/** An image, a document or a sound of a message, with a description in words. */
export async function readPart(tx: Tx, { threadId, id, number }: PartPlace) {
  const parts = (await loadMessage(tx, { threadId, id }))?.parts ?? []
  const part = parts[number - 1]
  if (part === undefined) throw notFound('part', `part-${number}`, `the message has ${parts.length} parts`)
  const { sha256 } = part
  const bytes = sha256 === undefined ? undefined : (await loadPartContents(tx, [sha256])).get(sha256)
  if (sha256 !== undefined && bytes === undefined) throw notFound('part', `part-${number}`, 'its bytes were erased')
  const recalledPart: RecallResult['part'] = {
    ...part,
    ...(bytes !== undefined && { data: bytes.toString('base64') }),
  }
  const words = describePart(part)
  return { content: words, contentType: part.mediaType ?? part.type, summary: words, filePaths: [], recalledPart }
}
