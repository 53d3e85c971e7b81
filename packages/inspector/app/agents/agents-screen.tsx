import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { agentPagesQuery } from '../data/agents.js'
import { figure, timeText, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { useTitle } from '../shell/title.js'

export function AgentsScreen() {
  useTitle('Agents')
  return (
    <div className="screen">
      <h1>Agents</h1>
      <AgentList />
    </div>
  )
}

function AgentList() {
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(agentPagesQuery)
  if (isPending) return <Loading what="agents" />
  if (error) return <Failure error={error} />
  const agents = data.pages.flatMap(({ items }) => items)
  if (agents.length === 0)
    return (
      <Empty title="There are no agents yet">
        <p>The first message of an agent creates it, or:</p>
        <pre>heddle agents set coder --prompt "You write code."</pre>
      </Empty>
    )
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table only if it can have the focus. */}
      <section className="scroll" tabIndex={0} aria-label="Agents by name">
        <table>
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col">Version</th>
              <th scope="col">Threads</th>
              <th scope="col">Messages</th>
              <th scope="col">Stored tokens</th>
              <th scope="col">Last message</th>
              <th scope="col">Last cleared</th>
            </tr>
          </thead>
          <tbody>
            {agents.map((agent) => (
              <tr key={agent.agentId}>
                <td>
                  <Link to="/agents/$agent" params={{ agent: agent.name }}>
                    <bdi>{visible(agent.name)}</bdi>
                  </Link>
                </td>
                <td className="number">{agent.version}</td>
                <td className="number">{figure(agent.threads)}</td>
                <td className="number">{figure(agent.messages)}</td>
                <td className="number">{figure(agent.tokensEstimate)}</td>
                <td>{timeText(agent.lastMessageAt)}</td>
                <td>{timeText(agent.lastClearedAt)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {hasNextPage ? (
        <p>
          <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more agents
          </button>
        </p>
      ) : null}
    </>
  )
}
