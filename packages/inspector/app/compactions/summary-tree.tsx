import type { SummaryNode } from '@heddle/contracts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useId, useMemo, useState } from 'react'
import { summariesQuery } from '../data/queries.js'
import { visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Folded } from '../parts/folded.js'
import { LoadMore } from '../parts/load-more.js'
import { Loading } from '../parts/loading.js'
import { SummaryMessages } from './summary-messages.js'
import { contextsOf, type LoadedSummaries, loadedSummaries, nameOf } from './tree.js'
import type { Selection } from './uncompact.js'

interface TreeProps {
  thread: string
  /** Undefined for readers who may not undo. */
  onUndo: ((selection: Selection) => void) | undefined
}

/** The summaries that contexts show, down to the messages that they were made from. */
export function SummaryTree({ thread, onUndo }: TreeProps) {
  const pages = useInfiniteQuery(summariesQuery(thread))
  const { data, error, isPending } = pages
  const loaded = useMemo(() => loadedSummaries(data?.pages.flatMap(({ items }) => items) ?? []), [data])
  if (isPending) return <Loading what="summaries" />
  if (error) return <Failure error={error} />
  if (loaded.wholes.length === 0)
    return (
      <Empty title="No summary is in force">
        <p>Contexts show the messages of this thread, verbatim or condensed. A summary appears after a compaction.</p>
      </Empty>
    )
  return (
    <>
      <ul className="summary-tree" aria-label="Summaries">
        {loaded.wholes.map((whole, index) => (
          <Node
            key={whole.id}
            node={whole}
            shown={whole.summary ?? ''}
            loaded={loaded}
            isOpenAtFirst={index === 0}
            thread={thread}
            onUndo={onUndo}
          />
        ))}
      </ul>
      <LoadMore pages={pages}>Load more summaries</LoadMore>
    </>
  )
}

interface NodeProps extends TreeProps {
  node: SummaryNode
  /** The text of the summary that contexts show. */
  shown: string
  loaded: LoadedSummaries
  isOpenAtFirst?: boolean
}

function Node({ node, shown, loaded, isOpenAtFirst = false, thread, onUndo }: NodeProps) {
  const id = useId()
  const { kind, from, to, children, summary, summarizer, lane } = node
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const name = nameOf(node)
  return (
    <li data-kind={kind}>
      <button
        type="button"
        className="disclosure"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {name}
      </button>
      <div id={id} hidden={!isOpen} className="summary-node">
        {isOpen ? (
          <>
            <p className="facts">
              {lane === null ? null : <span>{contextsOf(lane)}</span>}
              {from && to ? (
                <span>
                  <code>{from.reference}</code> to <code>{to.reference}</code>
                </span>
              ) : null}
              {summarizer === null ? null : (
                <span>
                  from <bdi>{visible(summarizer)}</bdi>
                </span>
              )}
            </p>
            {summary === null ? (
              <p className="quiet">The text of this part is not stored; that of its parts is.</p>
            ) : (
              <Folded text={summary} name={name} />
            )}
            {onUndo && from && to ? (
              <button type="button" onClick={() => onUndo({ fromSeq: from.seq, toSeq: to.seq })}>
                Undo for all of {from.seq === to.seq ? `#${from.seq}` : `#${from.seq} to #${to.seq}`}
                <span className="unseen">, {name}</span>
              </button>
            ) : null}
            <SummaryMessages
              thread={thread}
              summary={node.id}
              text={shown}
              name={name}
              onUndo={onUndo}
              isOpenAtFirst={kind === 'leaf'}
            />
            {children.length === 0 ? null : (
              <ul aria-label={`Parts of: ${name}`}>
                {loaded.partsOf(node).map((part) => (
                  <Node key={part.id} node={part} shown={shown} loaded={loaded} thread={thread} onUndo={onUndo} />
                ))}
              </ul>
            )}
          </>
        ) : null}
      </div>
    </li>
  )
}
