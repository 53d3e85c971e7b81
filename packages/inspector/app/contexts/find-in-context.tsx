import type { ContextResult, ReceiptEntry, SearchHit } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useId, useMemo } from 'react'
import { missingFrom } from '../data/missing.js'
import { useMay } from '../data/permissions.js'
import { statementsQuery, threadQuery } from '../data/queries.js'
import { counted, figure, timeText, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { matcherOf, termsOf } from '../search/highlight.js'
import { Highlighted } from '../search/highlighted.js'
import { BringBack } from './bring-back.js'
import { fateOf, lineOf } from './fate.js'

const ROUTE = '/threads/$thread/contexts/$context'

/** Whether the model saw a statement: messages with its words, and what became of each in this context. */
export function FindInContext({ context }: { context: ContextResult }) {
  const { query } = useSearch({ from: ROUTE })
  const navigate = useNavigate({ from: ROUTE })
  const id = useId()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget).get('query') ?? '').trim()
    void navigate({ search: text === '' ? { view: 'find' } : { view: 'find', query: text } })
  }
  return (
    <section aria-label="Did it see this?" className="part">
      <search>
        <form className="search-form" onSubmit={submit} aria-label="Find in this context">
          <span className="field wide">
            <label htmlFor={id}>Words of a statement</label>
            <input key={query} id={id} name="query" type="search" maxLength={1_000} defaultValue={query ?? ''} />
          </span>
          <button type="submit">Find</button>
        </form>
      </search>
      {query === undefined ? (
        <Empty title="Did the model see it?">
          <p>
            Give the words of a statement, such as <em>port of the test database</em>. Each message of the thread with
            them is shown with its place in this context: verbatim, shorter, behind a summary, or left out.
          </p>
        </Empty>
      ) : (
        <Statements context={context} query={query} />
      )}
    </section>
  )
}

function Statements({ context, query }: { context: ContextResult; query: string }) {
  const { data, error, isPending } = useQuery(statementsQuery(context.thread, query))
  const delivered = useMemo(() => JSON.stringify([context.system, context.messages]), [context])
  if (isPending) return <Loading what="the messages" />
  if (error) return <Failure error={error} />
  if (data.items.length === 0)
    return (
      <Empty title="No message of the thread has these words">
        <p>Try others: it may have been said in another thread, which the search of all threads finds.</p>
        <Unsearchable thread={context.thread} />
        <p>
          <Link to="/search" search={{ query }}>
            Search all threads
          </Link>
        </p>
      </Empty>
    )
  const found = data.items.map((hit) => ({ hit, line: lineOf(hit, context) }))
  // Such as the question itself, which came after the context.
  const sorted = [...found.filter(({ line }) => line !== undefined), ...found.filter(({ line }) => line === undefined)]
  return (
    <>
      <p role="status">{counted(sorted.length, 'message')} of the thread, the best first</p>
      <ol className="hits" aria-label="Messages of the thread">
        {sorted.map(({ hit, line }) => (
          <li key={hit.messageId}>
            <Statement line={line} delivered={delivered} hit={hit} query={query} />
          </li>
        ))}
      </ol>
    </>
  )
}

interface StatementProps {
  line: ReceiptEntry | undefined
  /** Everything that the model got, as a text. */
  delivered: string
  hit: SearchHit
  query: string
}

function Statement({ line, delivered, hit, query }: StatementProps) {
  const mayChange = useMay('produce')
  const isVerbatim = line?.mode === 'raw'
  return (
    <article className="hit">
      <p className="facts">
        <span className="mode" data-mode={line?.mode ?? 'left-out'}>
          {line?.mode ?? 'not in it'}
        </span>{' '}
        <span>{hit.kind}</span> <time dateTime={hit.at}>{timeText(hit.at)}</time>{' '}
        <Link to="/threads/$thread" params={{ thread: hit.thread }} search={{ at: hit.seq }}>
          #{figure(hit.seq)} in the timeline
        </Link>
      </p>
      <p className="excerpt" dir="auto">
        <Highlighted text={hit.text} matcher={matcherOf(termsOf(query))} />
      </p>
      <p>
        <strong>{visible(fateOf(line))}</strong>{' '}
        {line === undefined ? null : <span className="quiet">Reason: {visible(line.reason)}</span>}
      </p>
      {isVerbatim ? null : <Elsewhere text={hit.text} delivered={delivered} />}
      {mayChange && !isVerbatim ? (
        <BringBack thread={hit.thread} reference={hit.ref} isCovered={line?.mode === 'covered'} />
      ) : null}
    </article>
  )
}

/** Whether the model got the figures, paths and names of a message all the same, such as in a summary. */
function Elsewhere({ text, delivered }: { text: string; delivered: string }) {
  const { named, count } = missingFrom(text, delivered)
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

/** Messages that no search finds yet, which looks the same as if they had never been said. */
function Unsearchable({ thread }: { thread: string }) {
  const { data } = useQuery(threadQuery(thread))
  const left = data === undefined ? 0 : data.headSeq - data.cursors.embed
  if (left <= 0) return null
  return (
    <p className="warning">
      {counted(left, 'message')} of this thread cannot be found yet: the stage embed has not reached them.{' '}
      <Link to="/pipeline">See the pipeline</Link>
    </p>
  )
}
