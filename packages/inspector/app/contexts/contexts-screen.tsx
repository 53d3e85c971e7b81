import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { contextsQuery } from '../data/queries.js'
import { figure, timeText, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { WideTable } from '../parts/wide-table.js'
import { useTitle } from '../shell/title.js'
import { ThreadHead } from '../timeline/thread-head.js'

export function ContextsScreen() {
  const { thread } = useParams({ from: '/threads/$thread/contexts' })
  useTitle(`Contexts of ${thread}`)
  return (
    <div className="screen">
      <ThreadHead thread={thread} />
      <h2>Contexts</h2>
      <ContextList thread={thread} />
    </div>
  )
}

function ContextList({ thread }: { thread: string }) {
  const { data, error, isPending } = useQuery(contextsQuery(thread))
  if (isPending) return <Loading what="contexts" />
  if (error) return <Failure error={error} />
  if (data.items.length === 0)
    return (
      <Empty title="No context was built in this thread">
        <p>Build one, and it is shown here with its receipt:</p>
        <pre>heddle context build --thread {visible(thread)} --budget 16000</pre>
      </Empty>
    )
  return (
    <>
      {data.nextCursor === null ? null : <p className="quiet">The newest {data.items.length}</p>}
      <WideTable
        name="Contexts, newest first"
        columns={['Requested', 'Status', { figures: 'Tokens' }, { figures: 'Budget' }]}
      >
        {data.items.map(({ id, requestedAt, status, tokensUsed, budget }) => (
          <tr key={id}>
            <td>
              <Link to="/threads/$thread/contexts/$context" params={{ thread, context: id }}>
                <time dateTime={requestedAt}>{timeText(requestedAt)}</time>
              </Link>
            </td>
            <td>{status}</td>
            <td className="number">{tokensUsed === null ? '' : figure(tokensUsed)}</td>
            <td className="number">{budget === null ? '' : figure(budget)}</td>
          </tr>
        ))}
      </WideTable>
    </>
  )
}
