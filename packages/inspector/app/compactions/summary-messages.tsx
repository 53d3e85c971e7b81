import type { SummarizedMessage } from '@heddle/contracts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { type Missing, missingFrom } from '../data/missing.js'
import { summaryMessagesQuery } from '../data/queries.js'
import { counted, figure, timeText, visible } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Folded } from '../parts/folded.js'
import { LoadMore } from '../parts/load-more.js'
import { Loading } from '../parts/loading.js'
import type { Selection } from './uncompact.js'

interface SummaryMessagesProps {
  thread: string
  /** Its id. */
  summary: string
  /** The summary that contexts show, with which the messages are compared. */
  text: string
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

function Messages({ thread, summary, text, name, onUndo }: SummaryMessagesProps) {
  const id = useId()
  const [isOfLost, setOfLost] = useState(false)
  const pages = useInfiniteQuery(summaryMessagesQuery(thread, summary))
  const { data, error, isPending, hasNextPage } = pages
  if (isPending) return <Loading what="messages" />
  if (error) return <Failure error={error} />
  const messages = data.pages.flatMap(({ items }) => items)
  const shown = messages
    .map((message) => ({ message, missing: statedOnly(message, text) }))
    .filter(({ missing }) => !isOfLost || missing.count > 0)
  return (
    <>
      <p className="bar">
        <label htmlFor={id}>
          <input id={id} type="checkbox" checked={isOfLost} onChange={({ target }) => setOfLost(target.checked)} /> Only
          statements with figures, paths or names that the summary does not have
        </label>
        <span className="quiet" role="status">
          {figure(shown.length)} of {counted(messages.length, 'message')}
          {hasNextPage ? ' so far' : ''}
        </span>
      </p>
      <ol className="summarized" aria-label={`Messages of: ${name}`}>
        {shown.map(({ message, missing }) => (
          <li key={message.messageId}>
            <Message thread={thread} message={message} missing={missing} onUndo={onUndo} />
          </li>
        ))}
      </ol>
      <LoadMore pages={pages}>
        Load more messages<span className="unseen"> of {name}</span>
      </LoadMore>
    </>
  )
}

interface MessageProps {
  thread: string
  message: SummarizedMessage
  missing: Missing
  onUndo: SummaryMessagesProps['onUndo']
}

function Message({ thread, message, missing, onUndo }: MessageProps) {
  const { seq, reference, at, role, content, toolCalls = [], toolName, tokens } = message
  return (
    <article className="message" data-role={role}>
      <header>
        <h3>{visible(role).replace('_', ' ')}</h3>
        <p className="facts">
          <Link to="/threads/$thread" params={{ thread }} search={{ at: seq }} title="In the timeline">
            #{seq}
          </Link>{' '}
          <code>{reference}</code> <time dateTime={at}>{timeText(at)}</time> <span>{figure(tokens)} tokens</span>{' '}
          {toolName === undefined ? null : <bdi>{visible(toolName)}</bdi>}
        </p>
        {onUndo ? (
          <button type="button" onClick={() => onUndo({ messageId: reference })}>
            Undo<span className="unseen"> for {reference}</span>
          </button>
        ) : null}
      </header>
      <NotInSummary missing={missing} />
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

const NOTHING: Missing = { named: [], count: 0 }

/** Of results, no summary repeats the pieces. */
function statedOnly({ role, content }: SummarizedMessage, summary: string): Missing {
  return role === 'user' || role === 'assistant' ? missingFrom(content, summary) : NOTHING
}

/** The pieces of a message that are lost unless it is recalled: no list of everything that was. */
function NotInSummary({ missing: { named, count } }: { missing: Missing }) {
  if (count === 0) return null
  return (
    <p className="warning">
      Not in the summary: <bdi>{visible(named.join(', '))}</bdi>
      {count > named.length ? ` and ${figure(count - named.length)} more` : ''}
    </p>
  )
}
