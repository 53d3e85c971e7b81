import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { accessesQuery, contentQuery } from '../data/queries.js'
import { counted, figure, timeText, visible } from '../data/text.js'
import { CopyButton } from '../parts/copy-button.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { useTitle } from '../shell/title.js'
import { Content } from './content.js'
import { termsOf } from './highlight.js'

/** A content in full, as it was stored. */
export function ResultScreen() {
  const { ref, thread, at, query = '', stems = '' } = useSearch({ from: '/result' })
  const name = ref?.split('/').at(-1) ?? ''
  const terms = useMemo(() => termsOf(query, stems.split(' ')), [query, stems])
  useTitle(name === '' ? 'Result' : name)
  const { data, error, isPending } = useQuery({ ...contentQuery(ref ?? '', thread), enabled: ref !== undefined })
  if (ref === undefined)
    return (
      <Empty title="No reference is in the address">
        <p>Open a result of the search.</p>
      </Empty>
    )
  return (
    <div className="screen">
      <nav aria-label="Path">
        <Link to="/search" search={query === '' ? {} : { query }}>
          Search
        </Link>{' '}
        ›{' '}
      </nav>
      <h1>
        <bdi>{visible(name)}</bdi>
      </h1>
      {isPending ? <Loading what="the content" /> : null}
      {error ? <Failure error={error} /> : null}
      {data ? (
        <>
          <p className="facts">
            <span>{data.contentType}</span>{' '}
            <Link to="/threads/$thread" params={{ thread: data.thread }}>
              <bdi>{visible(data.thread)}</bdi>
            </Link>{' '}
            <span>{counted(data.linesTotal, 'line')}</span> <span>{figure(data.content.length)} characters</span>{' '}
            {data.filePaths.slice(0, 5).map((path) => (
              <code key={path}>{visible(path)}</code>
            ))}
          </p>
          <Accesses thread={data.thread} messageId={data.messageId} at={at} />
          <div className="bar">
            <CopyButton label="Copy the content" text={() => data.content} />
          </div>
          <Content content={data.content} terms={terms} name={name} />
        </>
      ) : null}
    </div>
  )
}

function Accesses({ thread, messageId, at }: { thread: string; messageId: string; at: string | undefined }) {
  const { data, error, isPending } = useQuery(accessesQuery(thread, messageId, at))
  if (isPending) return <Loading what="the accesses" />
  if (error) return <Failure error={error} />
  if (data === null) return <p className="quiet">It is not in the archive: no compaction condensed or removed it.</p>
  return (
    <p className="quiet">
      Archived {timeText(data.archivedAt)}. Recalled {counted(data.accessCount, 'time')}, the last time{' '}
      {timeText(data.lastAccessedAt)}.
    </p>
  )
}
