import type { ContextResult, LargestMessage, ReceiptEntry } from '@heddle/contracts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { largestQuery } from '../data/queries.js'
import { figure, timeText, visible } from '../data/text.js'
import { lineOf } from '../find/fate.js'
import { Failure } from '../parts/failure.js'
import { LoadMore } from '../parts/load-more.js'
import { Loading } from '../parts/loading.js'
import { Recalled } from '../parts/recalled.js'

interface LargestProps {
  thread: string
  tool: string | undefined
  /** The newest one, once it is loaded. */
  context: ContextResult | undefined
}

/** The largest messages of a thread, or the largest results of a tool, each with its place in the timeline. */
export function LargestMessages({ thread, tool, context }: LargestProps) {
  const pages = useInfiniteQuery(largestQuery(thread, tool))
  const { data, error, isPending } = pages
  const messages = data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <section className="part" aria-labelledby="largest">
      <div className="bar">
        <h2 id="largest">
          {tool === undefined ? (
            'Largest messages'
          ) : (
            <>
              Largest results of <bdi>{visible(tool)}</bdi>
            </>
          )}
        </h2>
        {tool === undefined ? null : (
          <Link to="/threads/$thread/tools" params={{ thread }}>
            All messages
          </Link>
        )}
      </div>
      {isPending ? <Loading what="the largest messages" /> : null}
      {error ? <Failure error={error} /> : null}
      {data !== undefined && messages.length === 0 ? <p className="quiet">There are none.</p> : null}
      <ol className="hits" aria-label="Largest messages">
        {messages.map((message) => (
          <li key={message.id}>
            <Largest thread={thread} message={message} context={context} />
          </li>
        ))}
      </ol>
      <LoadMore pages={pages} />
    </section>
  )
}

function Largest({ thread, message, context }: Omit<LargestProps, 'tool'> & { message: LargestMessage }) {
  const line = context === undefined ? undefined : lineOf({ messageId: message.id, seq: message.seq, thread }, context)
  const { seq, reference, role, toolName, isError, tokens, condensed, orderedAt, excerpt } = message
  return (
    <article className="hit">
      <p className="facts">
        <strong>{figure(tokens)} tokens</strong> <span>#{figure(seq)}</span>{' '}
        {toolName === null ? <span>{role.replace('_', ' ')}</span> : <bdi>{visible(toolName)}</bdi>}{' '}
        <code>{reference}</code> <time dateTime={orderedAt}>{timeText(orderedAt)}</time>{' '}
        <Link to="/threads/$thread" params={{ thread }} search={{ at: seq }}>
          In the timeline<span className="unseen"> at {reference}</span>
        </Link>
        {condensed ? (
          <span className="mark" data-mark="condensed">
            condensed
          </span>
        ) : null}
        {isError ? (
          <span className="mark" data-mark="error">
            error
          </span>
        ) : null}
      </p>
      {context === undefined ? null : <p className="quiet">In the newest context: {shownAs(line)}</p>}
      <p className="excerpt" dir="auto">
        {visible(excerpt)}
        {excerpt.length < 200 ? '' : ' …'}
      </p>
      <Recalled reference={reference} thread={thread} label="Show the full text" />
    </article>
  )
}

function shownAs(line: ReceiptEntry | undefined): string {
  if (line === undefined) return 'not shown'
  if (line.mode === 'covered') return 'behind a summary'
  if (line.mode === 'left-out' || line.mode === 'removed') return 'not shown'
  const tokens = line.count === 1 ? `, ${figure(line.tokens)} tokens` : ''
  return line.mode === 'raw' ? `verbatim${tokens}` : `in a shorter form${tokens}`
}
