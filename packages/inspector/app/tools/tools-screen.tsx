import type { ContextSummary, ToolUse } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { contextQuery, contextsQuery, toolUseQuery } from '../data/queries.js'
import { counted, figure, timeText, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { WideTable } from '../parts/wide-table.js'
import { useTitle } from '../shell/title.js'
import { ThreadHead } from '../timeline/thread-head.js'
import { LargestMessages } from './largest-messages.js'

/** Which tools take the tokens of a thread, and the largest messages. */
export function ToolsScreen() {
  const { thread } = useParams({ from: '/threads/$thread/tools' })
  const { tool } = useSearch({ from: '/threads/$thread/tools' })
  useTitle(`Tokens of ${thread}`)
  const contexts = useQuery(contextsQuery(thread))
  const newest = contexts.data?.items.find(({ status }) => status === 'built')
  const toolUse = toolUseQuery(thread, newest?.id)
  const { data, error, isPending } = useQuery({
    ...toolUse,
    enabled: !contexts.isPending,
    // The figures stay while those of a newer context are read; those of another thread do not.
    placeholderData: (before, query) => (query?.queryKey[1] === toolUse.queryKey[1] ? before : undefined),
  })
  const { data: context } = useQuery({ ...contextQuery(newest?.id ?? ''), enabled: newest !== undefined })
  return (
    <div className="screen">
      <ThreadHead thread={thread} />
      <h2>Tokens by tool</h2>
      {isPending ? <Loading what="the tools" /> : null}
      {error ? <Failure error={error} /> : null}
      {data ? <ToolTable thread={thread} tools={data.items} chosen={tool} newest={newest} /> : null}
      <LargestMessages key={tool ?? ''} thread={thread} tool={tool} context={context} />
    </div>
  )
}

interface TableProps {
  thread: string
  tools: readonly ToolUse[]
  chosen: string | undefined
  /** The newest context. */
  newest: ContextSummary | undefined
}

function ToolTable({ thread, tools, chosen, newest }: TableProps) {
  if (tools.length === 0)
    return (
      <Empty title="No tool was called in this thread">
        <p>Results of tools are counted as soon as they are stored.</p>
      </Empty>
    )
  const total = Math.max(
    1,
    tools.reduce((sum, { tokens }) => sum + tokens, 0),
  )
  return (
    <>
      <Now thread={thread} tools={tools} newest={newest} />
      <WideTable
        name="Tools, the most tokens first"
        columns={[
          'Tool',
          { figures: 'Results' },
          { figures: 'Failed' },
          { figures: 'Tokens stored' },
          'Share',
          { figures: 'Largest' },
          { figures: 'Condensed' },
          ...(newest === undefined ? [] : [{ figures: 'In the newest context' }, 'Share of it']),
        ]}
      >
        {tools.map(({ tool, results, failed, tokens, largestTokens, condensedTokens, shown }) => (
          <tr key={tool ?? ''} aria-current={tool !== null && tool === chosen ? 'true' : undefined}>
            <th scope="row">
              {tool === null ? (
                <span className="quiet">appended without a name</span>
              ) : (
                <Link to="/threads/$thread/tools" params={{ thread }} search={{ tool }}>
                  <bdi>{visible(tool)}</bdi>
                </Link>
              )}
            </th>
            <td className="number">{figure(results)}</td>
            <td className="number">{figure(failed)}</td>
            <td className="number">{figure(tokens)}</td>
            <td className="share">
              <Share part={tokens} of={total} />
            </td>
            <td className="number">{figure(largestTokens)}</td>
            <td className="number">{figure(condensedTokens)}</td>
            {newest === undefined ? null : (
              <>
                <td className="number">{shown === null ? '–' : figure(shown.tokens)}</td>
                <td className="share">
                  <Share part={shown?.tokens ?? 0} of={newest.tokensUsed ?? 0} />
                </td>
              </>
            )}
          </tr>
        ))}
      </WideTable>
    </>
  )
}

function Share({ part, of }: { part: number; of: number }) {
  const percent = of === 0 ? 0 : (100 * part) / of
  return (
    <>
      <span className="share-bar" aria-hidden="true" style={{ width: `${percent}%` }} />
      {percent.toFixed(1)} %
    </>
  )
}

/** The tool that takes the most of the newest context, in a sentence: stored tokens are not those that are paid for. */
function Now({ thread, tools, newest }: Pick<TableProps, 'thread' | 'tools' | 'newest'>) {
  const [first] = tools.filter(({ shown }) => (shown?.tokens ?? 0) > 0).toSorted(byShown)
  if (newest === undefined)
    return (
      <p className="quiet">
        As they were stored. No context was built yet: the first one adds what contexts show of each tool, which is what
        calls of a model pay for.
      </p>
    )
  return (
    <p>
      {first?.shown ? (
        <>
          <strong>
            <bdi>{first.tool === null ? 'Results without a tool' : visible(first.tool)}</bdi> takes the most of{' '}
          </strong>
          <NewestLink thread={thread} context={newest} />: {counted(first.shown.results, 'result')} with{' '}
          {figure(first.shown.tokens)} of its {figure(newest.tokensUsed ?? 0)} tokens.
        </>
      ) : (
        <>
          <NewestLink thread={thread} context={newest} /> shows no results of tools.
        </>
      )}{' '}
      <span className="quiet">
        A call of the model pays for that alone: all else is shown as a line, or is behind a summary.
      </span>
    </p>
  )
}

const byShown = (one: ToolUse, other: ToolUse) => (other.shown?.tokens ?? 0) - (one.shown?.tokens ?? 0)

function NewestLink({ thread, context: { id, requestedAt } }: { thread: string; context: ContextSummary }) {
  return (
    <Link to="/threads/$thread/contexts/$context" params={{ thread, context: id }}>
      the context of {timeText(requestedAt)}
    </Link>
  )
}
