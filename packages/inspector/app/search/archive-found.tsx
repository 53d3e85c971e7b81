import { useQuery } from '@tanstack/react-query'
import { archiveSearchQuery } from '../data/queries.js'
import { counted } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { ArchiveEntry } from './archive-entry.js'
import type { Conditions } from './conditions.js'
import { HowFound } from './how-found.js'
import { NothingFound } from './messages-found.js'

export function ArchiveFound({ conditions }: { conditions: Conditions }) {
  const { data, error, isPending } = useQuery(archiveSearchQuery(conditions))
  if (isPending) return <Loading what="results" />
  if (error) return <Failure error={error} />
  if (data.items.length === 0) return <NothingFound />
  return (
    <>
      <p role="status">{counted(data.items.length, 'archived content')}, the best first</p>
      <HowFound how={data} />
      <ol className="hits" aria-label="Archived contents found">
        {data.items.map(({ score, ...hit }) => (
          <li key={hit.messageId}>
            <ArchiveEntry hit={hit} query={conditions.query ?? ''} score={score} />
          </li>
        ))}
      </ol>
    </>
  )
}
