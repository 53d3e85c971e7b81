import type { ArchiveListRequest, SearchRequest } from '@heddle/contracts'

/** A search as the address holds it. Missing fields are no conditions. */
export interface Conditions {
  readonly query?: string
  /** All messages, or those that were condensed or removed. Default: all messages. */
  readonly place?: 'archive'
  readonly by?: 'words' | 'meaning'
  readonly kind?: string
  readonly path?: string
  readonly tool?: string
  readonly thread?: string
  readonly agent?: string
  /** ISO 8601. */
  readonly since?: string
  readonly until?: string
}

const TEXTS = ['query', 'kind', 'path', 'tool', 'thread', 'agent', 'since', 'until'] as const

export function readConditions(search: Record<string, unknown>): Conditions {
  return {
    ...textsOf(search, TEXTS),
    ...(search['place'] === 'archive' && { place: 'archive' as const }),
    ...((search['by'] === 'words' || search['by'] === 'meaning') && { by: search['by'] }),
  }
}

/** A shown content: its reference, and the search that found it. */
export interface Result {
  readonly ref?: string
  readonly thread?: string
  readonly at?: string
  readonly query?: string
  /** Separated by spaces. */
  readonly stems?: string
}

export function readResult(search: Record<string, unknown>): Result {
  return textsOf(search, ['ref', 'thread', 'at', 'query', 'stems'])
}

function textsOf<Field extends string>(
  search: Record<string, unknown>,
  fields: readonly Field[],
): { readonly [Name in Field]?: string } {
  const texts = fields.flatMap((field) => {
    const value = search[field]
    // The router reads a text of digits as a number.
    const text = typeof value === 'number' ? String(value) : value
    return typeof text === 'string' && text !== '' ? [[field, text]] : []
  })
  return Object.fromEntries(texts)
}

const LIMIT = 50

/** All messages have no tool as a condition; the archive has. */
export function toSearch({ query = '', by, kind, path, thread, agent, since, until }: Conditions): SearchRequest {
  const kinds = kind === undefined ? undefined : ([kind] as SearchRequest['kinds'])
  return { query, by: by ?? 'both', kinds, path, thread, agent, since, until, limit: LIMIT, explain: true }
}

export function toArchive({ kind, path, tool, thread, agent, since, until }: Conditions): ArchiveListRequest {
  const kinds = kind === undefined ? undefined : ([kind] as ArchiveListRequest['kinds'])
  return { kinds, path, tool, thread, agent, since, until, limit: LIMIT }
}
