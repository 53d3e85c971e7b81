import type { SummarizedMessage } from '@heddle/contracts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { summaryMessagesQuery } from '../data/queries.js'
import { figure, timeText, visible } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Folded } from '../parts/folded.js'
import { Loading } from '../parts/loading.js'
import type { Selection } from './uncompact.js'

interface SummaryMessagesProps {
  thread: string
  summary: string
  name: string
  onUndo: ((selection: Selection) => void) | undefined
}

/** The messages behind a summary, as they were stored, page by page, requested when they are opened. */
export function SummaryMessages({ isOpenAtFirst, ...of }: SummaryMessagesProps & { isOpenAtFirst: boolean }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  return (
    <>
      <button type="button" className="disclosure" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Messages<span className="unseen"> of: {of.name}</span>
      </button>
      {isOpen ? <Messages {...of} /> : null}
    </>
  )
}

function Messages({ thread, summary, name, onUndo }: SummaryMessagesProps) {
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    summaryMessagesQuery(thread, summary),
  )
  if (isPending) return <Loading what="messages" />
  if (error) return <Failure error={error} />
  return (
    <>
      <ol className="summarized" aria-label={`Messages of: ${name}`}>
        {data.pages
          .flatMap(({ items }) => items)
          .map((message) => (
            <li key={message.messageId}>
              <Message message={message} onUndo={onUndo} />
            </li>
          ))}
      </ol>
      {hasNextPage ? (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Load more messages<span className="unseen"> of {name}</span>
        </button>
      ) : null}
    </>
  )
}

function Message({ message, onUndo }: { message: SummarizedMessage; onUndo: SummaryMessagesProps['onUndo'] }) {
  const { seq, reference, at, role, content, toolCalls = [], toolName, tokens } = message
  return (
    <article className="message" data-role={role}>
      <header>
        <h3>{visible(role).replace('_', ' ')}</h3>
        <p className="facts">
          <span>#{seq}</span> <code>{reference}</code> <time dateTime={at}>{timeText(at)}</time>{' '}
          <span>{figure(tokens)} tokens</span> {toolName === undefined ? null : <bdi>{visible(toolName)}</bdi>}
        </p>
        {onUndo ? (
          <button type="button" onClick={() => onUndo({ message: reference })}>
            Undo<span className="unseen"> for {reference}</span>
          </button>
        ) : null}
      </header>
      {content === '' ? null : <Folded text={content} name={reference} />}
      {toolCalls.map(({ id, name, arguments: given }) => (
        <div key={id} className="call">
          <h4>
            <bdi>{visible(name)}</bdi>
          </h4>
          <Folded text={JSON.stringify(given, null, 1)} name={`the arguments of ${visible(name)}`} />
        </div>
      ))}
    </article>
  )
}
