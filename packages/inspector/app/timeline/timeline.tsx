import type { ArchiveHit } from '@heddle/contracts'
import { type UseQueryResult, useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import { archiveOfQuery, type LoadedPage, messagesQuery, type Order } from '../data/message-pages.js'
import { contextsQuery } from '../data/queries.js'
import { figure, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { ContextRow } from './context-row.js'
import { MessageRow } from './message-row.js'
import { type Row, timelineRows } from './rows.js'

const ROW_HEIGHT = 140
/** Rows before an end of the loaded ones at which more are loaded. */
const AHEAD_ROWS = 40

interface TimelineProps {
  thread: string
  order: Order
  at: number | undefined
  onViewContext(context: string): void
}

export function Timeline({ thread, order, at, onViewContext }: TimelineProps) {
  const messages = useInfiniteQuery(messagesQuery(thread, order, at))
  const { data, hasNextPage, hasPreviousPage, isFetching, fetchNextPage, fetchPreviousPage } = messages
  const { data: contexts } = useQuery(contextsQuery(thread))
  const condensed = useCondensed(thread, data?.pages ?? [])
  const rows = useMemo(
    () =>
      timelineRows(data?.pages.flatMap(({ items }) => items) ?? [], contexts?.items ?? [], {
        order,
        isComplete: !hasNextPage,
        isFromStart: !hasPreviousPage,
      }),
    [data, contexts, order, hasNextPage, hasPreviousPage],
  )
  const frame = useRef<HTMLElement>(null)
  // There, new messages are shown as they come.
  const isAtStart = at === undefined && !hasPreviousPage && (frame.current?.scrollTop ?? 0) === 0
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    getItemKey: (index) => rows[index]?.key ?? index,
    // The rows that are read stay in place while others come or go before them.
    anchorTo: isAtStart ? 'start' : 'end',
  })
  // A result that begins the list becomes a part of its call's row, once that is loaded: the row cannot be kept in place by itself.
  const isMoved = useRef(false)
  const place = at === undefined ? -1 : rows.findIndex((row) => hasMessage(row, at))
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is another object on each change, its method is not.
  useLayoutEffect(() => {
    if (place >= 0 && !isMoved.current) list.scrollToIndex(place, { align: 'start' })
  }, [place])
  const leave = () => {
    isMoved.current = true
  }
  const touches = { onWheel: leave, onPointerDown: leave, onKeyDown: leave }
  const shown = list.getVirtualItems()
  const first = shown[0]?.index ?? 0
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (isFetching || rows.length === 0) return
    if (hasNextPage && last >= rows.length - AHEAD_ROWS) void fetchNextPage()
    else if (hasPreviousPage && first < AHEAD_ROWS) void fetchPreviousPage()
  }, [isFetching, hasNextPage, hasPreviousPage, first, last, rows.length, fetchNextPage, fetchPreviousPage])

  if (messages.isPending) return <Loading what="messages" />
  if (messages.error) return <Failure error={messages.error} />
  if (rows.length === 0) return <NoMessages thread={thread} />
  return (
    <>
      <p className="quiet" role="status">
        {loadedText(data?.pages ?? [])}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a list only if it can have the focus. */}
      <section className="frame" ref={frame} tabIndex={0} aria-label="Timeline" {...touches}>
        <ol className="virtual" ref={(element) => element?.style.setProperty('height', `${list.getTotalSize()}px`)}>
          {shown.map(({ index, key, start }) => {
            const row = rows[index]
            return row === undefined ? null : (
              <li
                key={key}
                ref={list.measureElement}
                data-index={index}
                aria-setsize={hasNextPage || hasPreviousPage ? -1 : rows.length}
                aria-posinset={index + 1}
                aria-current={at !== undefined && hasMessage(row, at) ? 'true' : undefined}
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

/** The archived contents of the loaded messages, by the id of the message. */
function useCondensed(thread: string, pages: readonly LoadedPage[]): ReadonlyMap<string, ArchiveHit> {
  return useQueries({
    queries: pages.filter(({ items }) => items.length > 0).map((page) => archiveOfQuery(thread, page)),
    combine: byMessage,
  })
}

function byMessage(results: UseQueryResult<{ readonly items: readonly ArchiveHit[] }>[]) {
  return new Map(results.flatMap(({ data }) => data?.items.map((hit) => [hit.messageId, hit] as const) ?? []))
}

const hasMessage = (row: Row, seq: number) =>
  row.kind === 'message' &&
  (row.message.seq === seq || (row.message.toolCalls ?? []).some(({ id }) => row.results.get(id)?.seq === seq))

/** Which messages are loaded: the others come while one scrolls. */
function loadedText(pages: readonly LoadedPage[]): string {
  const numbers = pages.flatMap(({ items }) => items.map(({ seq }) => seq))
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)]
  return least === most ? `Message #${figure(least)}` : `Messages #${figure(least)} to #${figure(most)}`
}

function NoMessages({ thread }: { thread: string }) {
  return (
    <Empty title="This thread has no messages">
      <p>Append one, and it is shown here at once:</p>
      <pre>heddle import session.jsonl --thread {visible(thread)}</pre>
    </Empty>
  )
}
