import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef } from 'react'
import { archiveQuery, contextsQuery, messagesQuery, type Order } from '../data/queries.js'
import { counted, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { RequestContextDialog } from '../request-context/request-context-dialog.js'
import { useTitle } from '../shell/title.js'
import { ContextRow } from './context-row.js'
import { MessageRow } from './message-row.js'
import { timelineRows } from './rows.js'
import { ThreadHead } from './thread-head.js'

const ROW_HEIGHT = 140

export function TimelineScreen() {
  const { thread } = useParams({ from: '/threads/$thread' })
  const { order = 'desc', request } = useSearch({ from: '/threads/$thread' })
  const navigate = useNavigate({ from: '/threads/$thread' })
  useTitle(thread)
  const setRequest = (id: string | undefined) =>
    void navigate({ search: { ...(order === 'asc' && { order }), ...(id !== undefined && { request: id }) } })
  return (
    <div className="screen">
      <ThreadHead thread={thread} />
      <div className="bar">
        <h2>Timeline</h2>
        <label>
          Order{' '}
          <select
            value={order}
            onChange={({ target }) => void navigate({ search: target.value === 'asc' ? { order: 'asc' } : {} })}
          >
            <option value="desc">newest first</option>
            <option value="asc">oldest first</option>
          </select>
        </label>
      </div>
      <Timeline thread={thread} order={order} onViewContext={setRequest} />
      <RequestContextDialog context={request} onClose={() => setRequest(undefined)} />
    </div>
  )
}

interface TimelineProps {
  thread: string
  order: Order
  onViewContext(context: string): void
}

function Timeline({ thread, order, onViewContext }: TimelineProps) {
  const messages = useInfiniteQuery(messagesQuery(thread, order))
  const { data: contexts } = useQuery(contextsQuery(thread))
  const { data: archive } = useQuery(archiveQuery(thread))
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = messages
  const condensed = useMemo(() => new Map(archive?.items.map((hit) => [hit.messageId, hit])), [archive])
  const rows = useMemo(
    () =>
      timelineRows(data?.pages.flatMap(({ items }) => items) ?? [], contexts?.items ?? [], {
        order,
        isComplete: !hasNextPage,
      }),
    [data, contexts, order, hasNextPage],
  )
  const frame = useRef<HTMLElement>(null)
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    getItemKey: (index) => rows[index]?.key ?? index,
  })
  const shown = list.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= rows.length - 20) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, last, rows.length, fetchNextPage])

  if (messages.isPending) return <Loading what="messages" />
  if (messages.error) return <Failure error={messages.error} />
  if (rows.length === 0)
    return (
      <Empty title="This thread has no messages">
        <p>Append one, and it is shown here at once:</p>
        <pre>heddle import session.jsonl --thread {visible(thread)}</pre>
      </Empty>
    )
  return (
    <>
      <p className="quiet" role="status">
        {counted(rows.length, 'entry', 'entries')}
        {hasNextPage ? ' so far' : ''}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a list only if it can have the focus. */}
      <section className="frame" ref={frame} tabIndex={0} aria-label="Timeline">
        <ol className="virtual" ref={(element) => element?.style.setProperty('height', `${list.getTotalSize()}px`)}>
          {shown.map(({ index, key, start }) => {
            const row = rows[index]
            return row === undefined ? null : (
              <li
                key={key}
                ref={list.measureElement}
                data-index={index}
                aria-setsize={hasNextPage ? -1 : rows.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
              >
                {row.kind === 'context' ? (
                  <ContextRow context={row.context} />
                ) : (
                  <MessageRow row={row} condensed={condensed} onViewContext={onViewContext} />
                )}
              </li>
            )
          })}
        </ol>
      </section>
    </>
  )
}
