import { createHash } from 'node:crypto'
import type { Tx } from '../../connection/connection.js'
import { messagesOf } from '../../forks/lineage.js'
import { asArray } from '../../sql/arrays.js'
import type { ErasableRow } from './message-groups.js'

/** Texts in memory at once: each may have millions of characters. */
export const TEXTS_PER_PAGE = 50

export function textHash(text: string): string {
  return createHash('sha256').update(text, 'utf16le').digest('base64')
}

/** The hashes of what users wrote in some messages; none of a message without text. */
export async function loadTextHashes(tx: Tx, threadId: string, rows: readonly ErasableRow[]): Promise<Set<string>> {
  const hashes = new Set<string>()
  const ofUsers = rows.filter(({ role }) => role === 'user')
  for (const page of pagesOf(ofUsers, TEXTS_PER_PAGE)) {
    const texts = await tx<{ content: string; contentEscaped: boolean }[]>`
      select content, content_escaped from ${messagesOf(tx, threadId)} as message
      where seq = any(${asArray(page.map(({ seq }) => seq))}::bigint[]) and content <> ''`
    for (const { content, contentEscaped } of texts)
      hashes.add(textHash(contentEscaped ? (JSON.parse(content) as string) : content))
  }
  return hashes
}

export function* pagesOf<T>(rows: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += size) yield rows.slice(from, from + size)
}
