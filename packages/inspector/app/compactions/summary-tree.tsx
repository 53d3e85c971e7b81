import type { SummaryNode } from '@heddle/contracts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useId, useMemo, useState } from 'react'
import { summariesQuery } from '../data/queries.js'
import { visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Folded } from '../parts/folded.js'
import { Loading } from '../parts/loading.js'
import { SummaryMessages } from './summary-messages.js'
import { nameOf, partsBySummary } from './tree.js'
import type { Selection } from './uncompact.js'

interface TreeProps {
  thread: string
  /** Undefined for readers who may not undo. */
  onUndo: ((selection: Selection) => void) | undefined
}

/** The summary that contexts show, down to the messages that it was made from. */
export function SummaryTree({ thread, onUndo }: TreeProps) {
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    summariesQuery(thread),
  )
  const parts = useMemo(() => partsBySummary(data?.pages.flatMap(({ items }) => items) ?? []), [data])
  if (isPending) return <Loading what="summaries" />
  if (error) return <Failure error={error} />
  const [whole] = parts.get(null) ?? []
  if (whole === undefined)
    return (
      <Empty title="No summary is in force">
        <p>Contexts show the messages of this thread, verbatim or condensed. A summary appears after a compaction.</p>
      </Empty>
    )
  return (
    <>
      <ul className="summary-tree" aria-label="Summaries">
        <Node node={whole} parts={parts} thread={thread} onUndo={onUndo} />
      </ul>
      {hasNextPage ? (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Load more summaries
        </button>
      ) : null}
    </>
  )
}

interface NodeProps extends TreeProps {
  node: SummaryNode
  parts: ReturnType<typeof partsBySummary>
}

function Node({ node, parts, thread, onUndo }: NodeProps) {
  const id = useId()
  const { kind, from, to, children, summary, summarizer } = node
  const [isOpen, setOpen] = useState(kind === 'whole')
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
                Undo for these messages<span className="unseen">, {name}</span>
              </button>
            ) : null}
            <SummaryMessages
              thread={thread}
              summary={node.id}
              name={name}
              onUndo={onUndo}
              isOpenAtFirst={kind === 'leaf'}
            />
            {children.length === 0 ? null : (
              <ul aria-label={`Parts of: ${name}`}>
                {(parts.get(node.id) ?? []).map((part) => (
                  <Node key={part.id} node={part} parts={parts} thread={thread} onUndo={onUndo} />
                ))}
              </ul>
            )}
          </>
        ) : null}
      </div>
    </li>
  )
}
