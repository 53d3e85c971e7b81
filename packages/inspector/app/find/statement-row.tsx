import type { ContextResult, ReceiptEntry } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { missingFrom } from '../data/missing.js'
import { useMay } from '../data/permissions.js'
import { messageQuery } from '../data/queries.js'
import { figure, timeText, visible } from '../data/text.js'
import { matcherOf, termsOf } from '../search/highlight.js'
import { Highlighted } from '../search/highlighted.js'
import { BringBack } from './bring-back.js'
import { absenceOf, fateOf } from './fate.js'
import { type Statement, wholeOf } from './statement.js'

interface StatementRowProps {
  readonly statement: Statement
  /** The line of the receipt that accounts for it. */
  readonly line: ReceiptEntry | undefined
  readonly context: ContextResult
  /** Everything that the model got, as a text. */
  readonly delivered: string
  readonly requestedAt: string | undefined
  readonly query: string
}

/** A message, what became of it in a context and why, and how to get it into the next one. */
export function StatementRow({ statement, line, context, delivered, requestedAt, query }: StatementRowProps) {
  const { kind, at, seq, thread, text } = statement
  return (
    <article className="hit">
      <p className="facts">
        <span className="mode" data-mode={line?.mode ?? 'left-out'}>
          {line?.mode ?? 'not in it'}
        </span>{' '}
        <span>{kind}</span> <time dateTime={at}>{timeText(at)}</time>{' '}
        <Link to="/threads/$thread" params={{ thread }} search={{ at: seq }}>
          #{figure(seq)} in the timeline
        </Link>
      </p>
      <p className="excerpt" dir="auto">
        <Highlighted text={text} matcher={matcherOf(termsOf(query))} />
      </p>
      {line === undefined ? (
        <Absent statement={statement} context={context} requestedAt={requestedAt} />
      ) : (
        <Accounted statement={statement} line={line} />
      )}
      {line?.mode === 'raw' ? null : (
        <Elsewhere text={wholeOf(statement)} delivered={delivered} terms={termsOf(query)} />
      )}
    </article>
  )
}

function Accounted({ statement, line }: { statement: Statement; line: ReceiptEntry }) {
  const mayChange = useMay('produce')
  const { thread, reference } = statement
  const isCovered = line.mode === 'covered'
  return (
    <>
      <p>
        <strong>{visible(fateOf(line))}</strong> <span className="quiet">Reason: {visible(line.reason)}</span>{' '}
        {isCovered ? (
          <Link to="/threads/$thread/compactions" params={{ thread }}>
            See the summary, and what it lost
          </Link>
        ) : null}
      </p>
      {mayChange && line.mode !== 'raw' ? (
        <BringBack thread={thread} reference={reference} isCovered={isCovered} />
      ) : null}
    </>
  )
}

interface AbsentProps {
  readonly statement: Statement
  readonly context: ContextResult
  readonly requestedAt: string | undefined
}

/** A message that the receipt does not name: it came later, or no context may show it. */
function Absent({ statement: { thread, seq, messageId }, context, requestedAt }: AbsentProps) {
  const { data, isPending } = useQuery(messageQuery(thread, seq))
  if (isPending) return null
  const message = data?.id === messageId ? data : undefined
  const { cause, text } = absenceOf(message, { ineligible: context.receipt.ineligible, requestedAt })
  return (
    <p>
      <strong>{visible(text)}</strong>{' '}
      {cause === 'window' ? (
        <Link to="/agents/$agent" params={{ agent: context.agent }} search={{ view: 'settings' }}>
          Change rollingWindow of {visible(context.agent)}
        </Link>
      ) : null}
    </p>
  )
}

/** Whether the model got the figures, paths and names of a message all the same, such as in a summary. */
function Elsewhere({ text, delivered, terms }: { text: string; delivered: string; terms: readonly string[] }) {
  const { named, count } = missingFrom(text, delivered, terms)
  if (count > 0)
    return (
      <p className="warning">
        Nowhere in this context: <bdi>{visible(named.join(', '))}</bdi>
        {count > named.length ? ` and ${figure(count - named.length)} more` : ''}
      </p>
    )
  // A text without such pieces has none in an empty text either.
  return missingFrom(text, '').count === 0 ? null : (
    <p>Its figures, paths and names are in this context all the same, such as in the summary.</p>
  )
}
