import type { ThreadOverview } from '@heddle/contracts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { summariesQuery } from '../data/queries.js'
import { counted, figure, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { WideTable } from '../parts/wide-table.js'

/** The messages and tokens that each compaction covered, and those of the summary in their place. */
export function BeforeAfter({ overview: { states, prunings, name } }: { overview: ThreadOverview }) {
  const { data } = useInfiniteQuery(summariesQuery(name))
  const hasOthers = data?.pages.some(({ items }) => items.length > 0) ?? false
  if (states.length === 0 && hasOthers)
    return (
      <p>
        The settings of the thread have not led to a compaction yet. Requests with a budget, model or strategy of their
        own have: their summaries are below.
      </p>
    )
  if (states.length === 0)
    return (
      <Empty title="This thread has no compaction">
        <p>It begins when the thread approaches its limit. See what one would do now:</p>
        <pre>heddle context prune --dry-run --thread {visible(name)}</pre>
      </Empty>
    )
  const largest = Math.max(...states.map(({ coveredTokens }) => coveredTokens), 1)
  return (
    <>
      <p className="facts">
        <span>{counted(prunings.condense, 'message')} condensed</span> <span>{figure(prunings.remove)} removed</span>{' '}
        <span>{counted(prunings.stub, 'result')} replaced by a line</span>{' '}
        <span>{figure(prunings.tokensFreed)} tokens freed by pruning</span>
      </p>
      <WideTable
        name="Before and after, newest first"
        columns={[
          'Compaction',
          'Status',
          { figures: 'Messages covered' },
          { figures: 'Tokens before' },
          { figures: 'Tokens after' },
          'Before and after',
          'Strategy',
          'Summary from',
        ]}
        isShort
      >
        {[...states].reverse().map((state) => (
          <Row key={state.id} state={state} largest={largest} />
        ))}
      </WideTable>
      <ul className="quiet">
        {[...new Set(states.map(({ status }) => status))].map((status) => (
          <li key={status}>
            <strong>{status}</strong>: {meanings[status]}
          </li>
        ))}
      </ul>
    </>
  )
}

const meanings = {
  pending: 'its summary is being made',
  passed: 'a later compaction came before its summary was made; what it condensed stays condensed',
  ready: 'in force, unless a later one is',
  void: 'no longer in force after an undo, a clear, or a late message',
}

function Row({ state, largest }: { state: ThreadOverview['states'][number]; largest: number }) {
  const { generation, status, coveredCount, coveredTokens, summary, summaryTokens, summarizer, strategy } = state
  const hasSummary = summary !== null
  return (
    <tr>
      <th scope="row">{figure(generation)}</th>
      <td>{status}</td>
      <td className="number">{figure(coveredCount)}</td>
      <td className="number">{figure(coveredTokens)}</td>
      <td className="number">{hasSummary ? figure(summaryTokens) : '–'}</td>
      <td className="versus" aria-hidden="true">
        <span data-side="before" style={{ width: `${(100 * coveredTokens) / largest}%` }} />
        {hasSummary ? <span data-side="after" style={{ width: `${(100 * summaryTokens) / largest}%` }} /> : null}
      </td>
      <td>{visible(strategy)}</td>
      <td>{summarizer === null ? '–' : <bdi>{visible(summarizer)}</bdi>}</td>
    </tr>
  )
}
