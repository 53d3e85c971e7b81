import type { ContextResult, ContextSummary } from '@heddle/contracts'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useId, useMemo } from 'react'
import { contextQuery, contextsQuery, messageQuery, previewQuery, proxiedRequestsQuery } from '../data/queries.js'
import { timeText } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { useTitle } from '../shell/title.js'
import { ThreadHead } from '../timeline/thread-head.js'
import { lineOf } from './fate.js'
import { FindForm } from './find-form.js'
import { NotAsked } from './not-asked.js'
import { statementOfMessage } from './statement.js'
import { StatementRow } from './statement-row.js'
import { deliveredText, Statements } from './statements.js'

const ROUTE = '/threads/$thread/find'

/** In place of the id of a context: one that is built now. */
const NOW = 'now'

/** Whether the model got a statement of a thread, in its newest context or in another one. */
export function FindScreen() {
  const { thread } = useParams({ from: ROUTE })
  const { query, message, context: chosen } = useSearch({ from: ROUTE })
  const navigate = useNavigate({ from: ROUTE })
  useTitle(`Did it see this? ${thread}`)
  const { data: contexts, error, isPending } = useQuery(contextsQuery(thread))
  const built = contexts?.items.filter(({ status }) => status === 'built') ?? []
  const selected = chosen ?? built[0]?.id ?? NOW
  const isAsked = query !== undefined || message !== undefined
  return (
    <div className="screen">
      <ThreadHead thread={thread} />
      <h2>Did it see this?</h2>
      <FindForm
        query={query}
        onFind={(text) =>
          void navigate({ search: ({ context }) => ({ context, ...(text !== '' && { query: text }) }) })
        }
      >
        <ContextChoice
          built={built}
          selected={selected}
          onChoose={(context) => void navigate({ search: (search) => ({ ...search, context }) })}
        />
      </FindForm>
      {isPending ? <Loading what="contexts" /> : null}
      {error ? <Failure error={error} /> : null}
      {contexts !== undefined && built.length === 0 ? <Relayed thread={thread} /> : null}
      {contexts !== undefined && isAsked ? (
        <Asked thread={thread} selected={selected} summary={built.find(({ id }) => id === selected)} />
      ) : null}
      {isAsked ? null : <NotAsked />}
    </div>
  )
}

interface ChoiceProps {
  readonly built: readonly ContextSummary[]
  readonly selected: string
  onChoose(context: string): void
}

function ContextChoice({ built, selected, onChoose }: ChoiceProps) {
  const id = useId()
  const isListed = selected === NOW || built.some((each) => each.id === selected)
  return (
    <span className="field">
      <label htmlFor={id}>In the context of</label>
      <select id={id} value={selected} onChange={({ target }) => onChoose(target.value)}>
        {built.map(({ id: each, requestedAt }, index) => (
          <option key={each} value={each}>
            {timeText(requestedAt)}
            {index === 0 ? ', the newest' : ''}
          </option>
        ))}
        {isListed ? null : <option value={selected}>{selected}</option>}
        <option value={NOW}>now, if one is built</option>
      </select>
    </span>
  )
}

interface AskedProps {
  readonly thread: string
  readonly selected: string
  /** Undefined for a context that is built now, or is not listed. */
  readonly summary: ContextSummary | undefined
}

function Asked({ thread, selected, summary }: AskedProps) {
  const isNow = selected === NOW
  const { data, error, isPending } = useQuery(isNow ? previewQuery(thread) : contextQuery(selected))
  if (isPending) return <Loading what="the context" />
  if (error) return <Failure error={error} />
  return (
    <>
      <p>
        {isNow ? (
          'In a context that would be built now, with the settings of the thread. Nothing of it is stored.'
        ) : (
          <>
            In{' '}
            <Link to="/threads/$thread/contexts/$context" params={{ thread, context: selected }}>
              the context{summary === undefined ? '' : ` of ${timeText(summary.requestedAt)}`}
            </Link>
            :
          </>
        )}
      </p>
      <Found context={data} requestedAt={summary?.requestedAt} />
    </>
  )
}

function Found({ context, requestedAt }: { context: ContextResult; requestedAt: string | undefined }) {
  const { query, message } = useSearch({ from: ROUTE })
  if (query !== undefined) return <Statements context={context} requestedAt={requestedAt} query={query} />
  return message === undefined ? null : <OfMessage context={context} requestedAt={requestedAt} seq={message} />
}

/** What became of one message. */
function OfMessage({ context, requestedAt, seq }: { context: ContextResult; requestedAt?: string; seq: number }) {
  const { thread } = context
  const { data, error, isPending } = useQuery(messageQuery(thread, seq))
  const delivered = useMemo(() => deliveredText(context), [context])
  if (isPending) return <Loading what="the message" />
  if (error) return <Failure error={error} />
  if (data === null) return <p className="quiet">The thread has no message #{seq}.</p>
  const statement = statementOfMessage(data)
  return (
    <StatementRow
      statement={statement}
      line={lineOf(statement, context)}
      context={context}
      delivered={delivered}
      requestedAt={requestedAt}
      query=""
    />
  )
}

/** The calls of the model went by way of the proxy: a context that would be built now is not what the model got. */
function Relayed({ thread }: { thread: string }) {
  const { data } = useInfiniteQuery(proxiedRequestsQuery(thread))
  const newest = data?.pages[0]?.items[0]
  if (newest === undefined) return null
  return (
    <p className="warning">
      The model got requests of this thread by way of the proxy.{' '}
      <Link to="/threads/$thread/requests/$request" params={{ thread, request: newest.id }}>
        The newest one, of {timeText(newest.at)},
      </Link>{' '}
      shows each message as it was received, beside what was sent.
    </p>
  )
}
