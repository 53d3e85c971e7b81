import { useInfiniteQuery } from '@tanstack/react-query'
import { archiveListQuery } from '../data/queries.js'
import { counted } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { LoadMore } from '../parts/load-more.js'
import { Loading } from '../parts/loading.js'
import { ArchiveEntry } from './archive-entry.js'
import type { Conditions } from './conditions.js'

/** The archive without words: the newest first. */
export function ArchiveList({ conditions }: { conditions: Conditions }) {
  const pages = useInfiniteQuery(archiveListQuery(conditions))
  const { data, error, isPending, hasNextPage } = pages
  if (isPending) return <Loading what="the archive" />
  if (error) return <Failure error={error} />
  const hits = data.pages.flatMap(({ items }) => items)
  if (hits.length === 0 && !hasNextPage)
    return (
      <Empty title="The archive has nothing that fits">
        <p>Contents are archived when a compaction condenses or removes them. Try fewer conditions.</p>
      </Empty>
    )
  return (
    <>
      <p role="status">
        {counted(hits.length, 'archived content')}
        {hasNextPage ? ' so far' : ''}, the newest first
      </p>
      <ol className="hits" aria-label="Archived contents">
        {hits.map((hit) => (
          <li key={hit.messageId}>
            <ArchiveEntry hit={hit} query="" />
          </li>
        ))}
      </ol>
      <LoadMore pages={pages} />
    </>
  )
}
