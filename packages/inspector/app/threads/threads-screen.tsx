import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useDeferredValue, useEffect, useId, useRef, useState } from 'react'
import { agentsQuery, threadsQuery } from '../data/queries.js'
import { counted } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { useTitle } from '../shell/title.js'
import { ThreadRow } from './thread-row.js'

const ROW_HEIGHT = 66

export function ThreadsScreen() {
  useTitle('Threads')
  const given = useSearch({ from: '/threads' })
  const navigate = useNavigate()
  const [search, setSearch] = useState(given.search ?? '')
  const agent = given.agent ?? ''
  const deferred = useDeferredValue(search.trim())
  useEffect(() => {
    void navigate({
      to: '/threads',
      search: { ...(deferred && { search: deferred }), ...(agent && { agent }) },
      replace: true,
    })
  }, [deferred, agent, navigate])
  return (
    <div className="screen">
      <h1>Threads</h1>
      <Filters
        search={search}
        onSearch={setSearch}
        agent={agent}
        onAgent={(name) =>
          void navigate({
            to: '/threads',
            search: { ...(deferred && { search: deferred }), ...(name && { agent: name }) },
          })
        }
      />
      <ThreadList search={deferred} agent={agent} />
    </div>
  )
}

interface FiltersProps {
  search: string
  onSearch(text: string): void
  agent: string
  onAgent(name: string): void
}

function Filters({ search, onSearch, agent, onAgent }: FiltersProps) {
  const id = useId()
  const { data: agents } = useQuery(agentsQuery)
  return (
    <search className="filters">
      <label htmlFor={`${id}-search`}>Name or title</label>
      <input
        id={`${id}-search`}
        type="search"
        maxLength={200}
        value={search}
        onChange={({ target }) => onSearch(target.value)}
      />
      <label htmlFor={`${id}-agent`}>Agent</label>
      <select id={`${id}-agent`} value={agent} onChange={({ target }) => onAgent(target.value)}>
        <option value="">all agents</option>
        {agents?.items.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </search>
  )
}

function ThreadList({ search, agent }: { search: string; agent: string }) {
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    threadsQuery(search, agent),
  )
  const threads = data?.pages.flatMap(({ items }) => items) ?? []
  const frame = useRef<HTMLElement>(null)
  const rows = useVirtualizer({
    count: threads.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    getItemKey: (index) => threads[index]?.threadId ?? index,
  })
  const visibleRows = rows.getVirtualItems()
  const last = visibleRows.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= threads.length - 20) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, last, threads.length, fetchNextPage])

  if (isPending) return <Loading what="threads" />
  if (error) return <Failure error={error} />
  if (threads.length === 0) return <NoThreads isFiltered={search !== '' || agent !== ''} />
  return (
    <>
      <p className="quiet" role="status">
        {counted(threads.length, 'thread')}
        {hasNextPage ? ' so far' : ''}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a list only if it can have the focus. */}
      <section className="frame" ref={frame} tabIndex={0} aria-label="List of threads">
        <ul className="virtual" ref={(list) => list?.style.setProperty('height', `${rows.getTotalSize()}px`)}>
          {visibleRows.map(({ index, key, start }) => {
            const thread = threads[index]
            return thread === undefined ? null : (
              <li
                key={key}
                ref={rows.measureElement}
                data-index={index}
                aria-setsize={hasNextPage ? -1 : threads.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
              >
                <ThreadRow thread={thread} />
              </li>
            )
          })}
        </ul>
      </section>
    </>
  )
}

function NoThreads({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No thread fits">
        <p>Shorten the search, or choose all agents.</p>
      </Empty>
    )
  return (
    <Empty title="There are no threads yet">
      <p>Import a recorded session, and this list shows it while it is stored:</p>
      <pre>heddle import session.jsonl --agent coder</pre>
    </Empty>
  )
}
