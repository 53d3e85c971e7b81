import type { AgentItem, ItemStatsEntry } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { itemStatsQuery } from '../data/agents.js'
import { itemsQuery } from '../data/queries.js'
import { counted, figure, timeText, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'

/** Rules, references and tools of an agent, with what they cost and whether replies used them. */
export function Items({ agent }: { agent: string }) {
  const { data: items, error, isPending } = useQuery(itemsQuery(agent))
  const stats = useQuery(itemStatsQuery(agent))
  if (isPending) return <Loading what="items" />
  if (error) return <Failure error={error} />
  if (items.length === 0)
    return (
      <Empty title="This agent has no items">
        <p>Rules, references and tools that its contexts may include:</p>
        <pre>heddle items put --agent {visible(agent)} rule tests --text "Run the tests first." --include always</pre>
      </Empty>
    )
  const shown = new Map(stats.data?.items.map((entry) => [entry.itemId, entry]))
  return (
    <>
      {stats.error ? <Failure error={stats.error} /> : null}
      {stats.data ? (
        <p className="quiet">
          Figures over {counted(stats.data.contexts, 'context')}
          {stats.data.from === null ? '' : ` since ${timeText(stats.data.from)}`}
        </p>
      ) : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table only if it can have the focus. */}
      <section className="scroll" tabIndex={0} aria-label="Items of the agent">
        <table>
          <thead>
            <tr>
              <th scope="col">Type</th>
              <th scope="col">Name</th>
              <th scope="col">Mode</th>
              <th scope="col">Priority</th>
              <th scope="col">Shown in contexts</th>
              <th scope="col">Used by replies</th>
              <th scope="col">Tokens</th>
              <th scope="col">Suggestion</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <Row key={item.itemId} item={item} stats={shown.get(item.itemId)} />
            ))}
          </tbody>
        </table>
      </section>
    </>
  )
}

function Row({ item, stats }: { item: AgentItem; stats: ItemStatsEntry | undefined }) {
  const { type, name, serverName, includeMode, priorityLevel, description } = item
  return (
    <tr>
      <td>{type}</td>
      <td>
        {serverName === undefined ? null : <span className="quiet server">{visible(serverName)}.</span>}
        <bdi>{visible(name)}</bdi>
        {description === null ? null : <p className="quiet">{visible(description)}</p>}
      </td>
      <td>
        <span className="badge" data-mode={includeMode}>
          {includeMode}
        </span>
      </td>
      <td className="number">{priorityLevel === null ? '' : String(priorityLevel).padStart(3, '0')}</td>
      <td className="number">{figure(stats?.contexts ?? 0)}</td>
      <td className="number">{stats === undefined ? 0 : `${figure(stats.used)} of ${figure(stats.answered)}`}</td>
      <td className="number">{figure(stats?.tokens ?? 0)}</td>
      <td>{stats?.suggestion ? `${stats.suggestion.action}: ${visible(stats.suggestion.reason)}` : ''}</td>
    </tr>
  )
}
