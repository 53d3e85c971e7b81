import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { agentPagesQuery } from '../data/agents.js'
import { figure, timeText, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { LoadMore } from '../parts/load-more.js'
import { Loading } from '../parts/loading.js'
import { WideTable } from '../parts/wide-table.js'
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
  const pages = useInfiniteQuery(agentPagesQuery)
  const { data, error, isPending } = pages
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
      <WideTable
        name="Agents by name"
        columns={[
          'Agent',
          { figures: 'Version' },
          { figures: 'Threads' },
          { figures: 'Messages' },
          { figures: 'Stored tokens' },
          'Last message',
          'Last cleared',
        ]}
      >
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
      </WideTable>
      <LoadMore pages={pages}>Load more agents</LoadMore>
    </>
  )
}
