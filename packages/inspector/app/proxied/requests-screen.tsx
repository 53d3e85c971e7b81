import type { ProxiedRequest } from '@heddle/contracts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { proxiedRequestsQuery } from '../data/queries.js'
import { counted, figure, timeText, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { LoadMore } from '../parts/load-more.js'
import { Loading } from '../parts/loading.js'
import { WideTable } from '../parts/wide-table.js'
import { useTitle } from '../shell/title.js'
import { ThreadHead } from '../timeline/thread-head.js'
import { dollars, passedText, savingText, sumOfCosts } from './costs.js'

/** The requests of a thread that the proxy relayed, with what each and all of them cost. */
export function RequestsScreen() {
  const { thread } = useParams({ from: '/threads/$thread/requests' })
  useTitle(`Requests of ${thread}`)
  return (
    <div className="screen">
      <ThreadHead thread={thread} />
      <h2>Requests by way of the proxy</h2>
      <RequestList thread={thread} />
    </div>
  )
}

function RequestList({ thread }: { thread: string }) {
  const pages = useInfiniteQuery(proxiedRequestsQuery(thread))
  const { data, error, isPending, hasNextPage } = pages
  if (isPending) return <Loading what="the requests" />
  if (error) return <Failure error={error} />
  const requests = data.pages.flatMap(({ items }) => items)
  if (requests.length === 0)
    return (
      <Empty title="No request of this thread came by way of the proxy">
        <p>An agent calls its provider through it if it is given this address:</p>
        <pre>ANTHROPIC_BASE_URL=http://127.0.0.1:4680/anthropic</pre>
      </Empty>
    )
  const sum = sumOfCosts(requests)
  return (
    <>
      <p role="status">
        {counted(requests.length, 'request')}
        {hasNextPage ? ', the newest' : ''}: {dollars(sum.costUsd)} for {figure(sum.priced)} of them
        {sum.priced === 0 ? '' : `, about ${dollars(sum.directCostUsd)} unchanged: ${savingText(sum)}`}
      </p>
      <WideTable
        name="Requests, newest first"
        columns={[
          'At',
          'Mode',
          'Passed',
          { figures: 'Received' },
          { figures: 'Sent' },
          { figures: 'Cached' },
          { figures: 'Recalls' },
          { figures: 'Cost' },
          { figures: 'Unchanged' },
          { figures: 'Epoch' },
        ]}
      >
        {requests.map((request) => (
          <RequestRow key={request.id} thread={thread} request={request} />
        ))}
      </WideTable>
      <LoadMore pages={pages} />
    </>
  )
}

function RequestRow({ thread, request }: { thread: string; request: ProxiedRequest }) {
  const { id, at, mode, isControl, epoch, tokens, recalls, costUsd, directCostUsd } = request
  return (
    <tr>
      <th scope="row">
        <Link to="/threads/$thread/requests/$request" params={{ thread, request: id }}>
          <time dateTime={at}>{timeText(at)}</time>
        </Link>
      </th>
      <td>
        {mode} {isControl ? <span className="mark">control</span> : null}
      </td>
      <td>{visible(passedText(request))}</td>
      <td className="number">{figure(tokens.received)}</td>
      <td className="number">{figure(tokens.sent)}</td>
      <td className="number">{figure(tokens.cached)}</td>
      <td className="number">{figure(recalls)}</td>
      <td className="number">{dollars(costUsd)}</td>
      <td className="number">{dollars(directCostUsd)}</td>
      <td className="number">{figure(epoch)}</td>
    </tr>
  )
}
