import type { ToolUse } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { toolUseQuery } from '../data/queries.js'
import { figure, visible } from '../data/text.js'
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
  const { data, error, isPending } = useQuery(toolUseQuery(thread))
  return (
    <div className="screen">
      <ThreadHead thread={thread} />
      <h2>Tokens by tool</h2>
      {isPending ? <Loading what="the tools" /> : null}
      {error ? <Failure error={error} /> : null}
      {data ? <ToolTable thread={thread} tools={data.items} chosen={tool} /> : null}
      <LargestMessages key={tool ?? ''} thread={thread} tool={tool} />
    </div>
  )
}

function ToolTable({ thread, tools, chosen }: { thread: string; tools: readonly ToolUse[]; chosen?: string }) {
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
      <p className="quiet">
        As they were appended. Of condensed results contexts show a line; the whole content stays in the archive.
      </p>
      <WideTable
        name="Tools, the most tokens first"
        columns={[
          'Tool',
          { figures: 'Results' },
          { figures: 'Failed' },
          { figures: 'Tokens' },
          'Share',
          { figures: 'Largest' },
          { figures: 'Of them condensed' },
        ]}
      >
        {tools.map(({ tool, results, failed, tokens, largestTokens, condensedTokens }) => (
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
              <span className="share-bar" aria-hidden="true" style={{ width: `${(100 * tokens) / total}%` }} />
              {((100 * tokens) / total).toFixed(1)} %
            </td>
            <td className="number">{figure(largestTokens)}</td>
            <td className="number">{figure(condensedTokens)}</td>
          </tr>
        ))}
      </WideTable>
    </>
  )
}
