import type { ProxyComparison, ProxyTotals } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { proxyStatsQuery } from '../data/queries.js'
import { figure, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { WideTable } from '../parts/wide-table.js'
import { useTitle } from '../shell/title.js'
import { costOfRequest, dollars, intervalText, savingText, sumOfTotals } from './costs.js'

/** What the requests of all threads cost by way of the proxy, and what they would have cost without it. */
export function ProxyScreen() {
  useTitle('Proxy')
  const { data, error, isPending } = useQuery(proxyStatsQuery)
  return (
    <div className="screen">
      <h1>Proxy</h1>
      {isPending ? <Loading what="the costs" /> : null}
      {error ? <Failure error={error} /> : null}
      {data?.items.length === 0 ? (
        <Empty title="No request came by way of the proxy">
          <p>An agent calls its provider through it if it is given this address:</p>
          <pre>ANTHROPIC_BASE_URL=http://127.0.0.1:4680/anthropic</pre>
        </Empty>
      ) : null}
      {data !== undefined && data.items.length > 0 ? (
        <>
          <Totals totals={data.items} />
          <h2>Beside conversations that stayed unchanged</h2>
          <Comparisons comparisons={data.comparisons} />
        </>
      ) : null}
    </div>
  )
}

function Totals({ totals }: { totals: readonly ProxyTotals[] }) {
  const sum = sumOfTotals(totals)
  return (
    <>
      <p role="status">
        {dollars(sum.costUsd)} for {figure(sum.priced)} of {figure(sum.requests)} requests, about{' '}
        {dollars(sum.directCostUsd)} unchanged: {savingText(sum)}
      </p>
      <WideTable
        name="Costs by mode and model"
        columns={[
          'Mode',
          'Model',
          { figures: 'Threads' },
          { figures: 'Requests' },
          { figures: 'Passed' },
          { figures: 'Received' },
          { figures: 'Sent' },
          { figures: 'Cache reads' },
          { figures: 'Recalls' },
          { figures: 'For recalls' },
          { figures: 'Cost' },
          { figures: 'Unchanged' },
        ]}
      >
        {totals.map((each) => (
          <TotalsRow key={`${each.mode} ${each.isControl} ${each.model}`} totals={each} />
        ))}
      </WideTable>
    </>
  )
}

function TotalsRow({ totals }: { totals: ProxyTotals }) {
  const { mode, isControl, model, threads, requests, passed, tokens, usage, priced } = totals
  const { recalls, recallCostUsd, costUsd, directCostUsd } = totals
  const known = (usd: number) => dollars(priced === 0 ? null : usd)
  return (
    <tr>
      <th scope="row">
        {mode} {isControl ? <span className="mark">control</span> : null}
      </th>
      <td className="model">
        <bdi>{visible(model)}</bdi>
      </td>
      {[threads, requests, passed, tokens.received, tokens.sent, usage.cacheRead, recalls].map((value, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the columns never change their places.
        <td key={column} className="number">
          {figure(value)}
        </td>
      ))}
      <td className="number">{known(recallCostUsd)}</td>
      <td className="number">{known(costUsd)}</td>
      <td className="number">{known(directCostUsd)}</td>
    </tr>
  )
}

function Comparisons({ comparisons }: { comparisons: readonly ProxyComparison[] }) {
  if (comparisons.length === 0)
    return (
      <p className="quiet">
        No conversation stays unchanged for comparison: <code>proxy.control</code> names their share.
      </p>
    )
  return (
    <WideTable
      name="Costs of a request beside those of unchanged conversations"
      columns={[
        'Mode',
        { figures: 'Conversations' },
        { figures: 'A request' },
        { figures: 'Unchanged ones' },
        { figures: 'A request of these' },
        { figures: 'Ratio' },
        { figures: '95 % interval' },
      ]}
    >
      {comparisons.map(({ mode, treated, control, ratio, interval }) => (
        <tr key={mode}>
          <th scope="row">{mode}</th>
          <td className="number">{figure(treated.threads)}</td>
          <td className="number">{dollars(costOfRequest(treated))}</td>
          <td className="number">{figure(control.threads)}</td>
          <td className="number">{dollars(costOfRequest(control))}</td>
          <td className="number">{ratio === null ? '–' : ratio.toFixed(2)}</td>
          <td className="number">{intervalText(interval)}</td>
        </tr>
      ))}
    </WideTable>
  )
}
