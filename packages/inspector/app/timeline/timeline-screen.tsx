import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { messagesQuery, type Order } from '../data/message-pages.js'
import { threadQuery } from '../data/queries.js'
import { RequestContextDialog } from '../request-context/request-context-dialog.js'
import { useTitle } from '../shell/title.js'
import { MomentForm } from './moment-form.js'
import { ThreadHead } from './thread-head.js'
import { Timeline } from './timeline.js'

export function TimelineScreen() {
  const { thread } = useParams({ from: '/threads/$thread' })
  const { order = 'desc', at, request } = useSearch({ from: '/threads/$thread' })
  // The figures of a long thread take the server a second, in which the messages would come later.
  const { isPending } = useInfiniteQuery(messagesQuery(thread, order, at))
  const { data: overview } = useQuery({ ...threadQuery(thread), enabled: !isPending })
  const navigate = useNavigate({ from: '/threads/$thread' })
  useTitle(thread)
  const setOrder = (chosen: Order) =>
    void navigate({ search: ({ at }) => ({ at, ...(chosen === 'asc' && { order: chosen }) }) })
  const setRequest = (id: string | undefined) =>
    void navigate({ search: ({ request: _, ...others }) => ({ ...others, ...(id !== undefined && { request: id }) }) })
  const move = useCallback(
    (to: number) => void navigate({ search: ({ order }) => ({ order, at: to }), replace: true }),
    [navigate],
  )
  return (
    <div className="screen">
      <ThreadHead thread={thread} isLater={isPending} />
      <div className="bar">
        <h2>Timeline</h2>
        <label>
          Order{' '}
          <select value={order} onChange={({ target }) => setOrder(target.value as Order)}>
            <option value="desc">newest first</option>
            <option value="asc">oldest first</option>
          </select>
        </label>
        {overview && overview.headSeq > 1 ? <MomentForm newest={overview.headSeq} at={at} onMove={move} /> : null}
      </div>
      <Timeline key={`${thread} ${order} ${at}`} thread={thread} order={order} at={at} onViewContext={setRequest} />
      <RequestContextDialog context={request} onClose={() => setRequest(undefined)} />
    </div>
  )
}
