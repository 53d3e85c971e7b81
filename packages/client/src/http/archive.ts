import type { Page } from '../interface/pages.js'
import type { ArchiveHit, ArchiveSearchResult } from '../interface/recall.js'
import type { RemoteClient } from './remote-client.js'
import type { Transport } from './transport.js'

/** What was condensed or removed, over HTTP. */
export function archiveOverHttp(transport: Transport): RemoteClient['archive'] {
  const path = ['archive']
  return {
    async list({ cursor, after, kinds, failed, ...conditions } = {}) {
      const query = { ...conditions, cursor: cursor ?? after, kinds: kinds?.join(','), failed: failed?.toString() }
      return (await transport.call<Page<ArchiveHit>>({ method: 'GET', path, query, retry: 'again' })).body
    },
    async search(body) {
      const call = { method: 'POST', path: [...path, 'search'], body, retry: 'again' } as const
      const { nextCursor: _, ...found } = (await transport.call<ArchiveSearchResult & { nextCursor: null }>(call)).body
      return found
    },
  }
}
