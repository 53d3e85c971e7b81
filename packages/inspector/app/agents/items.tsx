import type { AgentItem, ItemStatsEntry } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { itemStatsQuery } from '../data/agents.js'
import { itemsQuery } from '../data/queries.js'
import { counted, figure, timeText, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { WideTable } from '../parts/wide-table.js'

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
      <WideTable
        name="Items of the agent"
        columns={[
          'Type',
          'Name',
          'Mode',
          { figures: 'Priority' },
          { figures: 'Shown in contexts' },
          { figures: 'Used by replies' },
          { figures: 'Tokens' },
          'Suggestion',
        ]}
      >
        {items.map((item) => (
          <Row key={item.itemId} item={item} stats={shown.get(item.itemId)} />
        ))}
      </WideTable>
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
