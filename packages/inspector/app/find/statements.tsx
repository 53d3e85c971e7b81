import type { ContextResult, SearchHit } from '@heddle/contracts'
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { messageQuery, statementsQuery, threadQuery } from '../data/queries.js'
import { counted, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { termsOf } from '../search/highlight.js'
import { answerOf, type Found } from './answer.js'
import { lineOf } from './fate.js'
import { statementOfHit } from './statement.js'
import { StatementRow } from './statement-row.js'

interface StatementsProps {
  readonly context: ContextResult
  /** When it was requested; undefined for one that is built now. */
  readonly requestedAt: string | undefined
  readonly query: string
}

/** The messages of a thread with the words of a statement, and what became of each in a context. */
export function Statements({ context, requestedAt, query }: StatementsProps) {
  const { data, error, isPending } = useQuery(statementsQuery(context.thread, query))
  const delivered = useMemo(() => deliveredText(context), [context])
  const all = useWhole(data?.items ?? [], context)
  if (isPending || all === null) return <Loading what="the messages" />
  if (error) return <Failure error={error} />
  if (data.items.length === 0) return <NotSaid thread={context.thread} query={query} />
  const terms = termsOf(query)
  // Such as the question itself, which came after the context.
  const isLater = ({ statement: { storedAt = '' }, line }: Found) =>
    line === undefined && requestedAt !== undefined && storedAt > requestedAt
  const found = all.filter((each) => !isLater(each))
  const sorted = [...found, ...all.filter(isLater)]
  const answer = found.length === 0 ? null : answerOf(found, delivered, terms)
  return (
    <>
      {answer === null ? null : (
        <p className="answer" data-verdict={answer.verdict} role="status">
          <strong>{answer.verdict}.</strong> <bdi>{visible(answer.text)}</bdi>
        </p>
      )}
      <p className="quiet">{counted(sorted.length, 'message')} of the thread by words and meaning, the best first</p>
      <ol className="hits" aria-label="Messages of the thread">
        {sorted.map(({ statement, line }) => (
          <li key={statement.messageId}>
            <StatementRow
              statement={statement}
              line={line}
              context={context}
              delivered={delivered}
              requestedAt={requestedAt}
              query={query}
            />
          </li>
        ))}
      </ol>
    </>
  )
}

/** The hits with their lines of the receipt, and the whole texts of those that the context does not show; null while they load. */
function useWhole(hits: readonly SearchHit[], context: ContextResult): Found[] | null {
  const found = hits.map(statementOfHit).map((statement) => ({ statement, line: lineOf(statement, context) }))
  const queries = found.map(({ statement, line }) => ({
    ...messageQuery(statement.thread, statement.seq),
    enabled: line?.mode !== 'raw',
  }))
  const loaded = useQueries({ queries })
  if (loaded.some(({ isLoading }) => isLoading)) return null
  return found.map(({ statement, line }, index) => {
    const message = loaded[index]?.data
    if (message?.id !== statement.messageId) return { statement, line }
    return { statement: { ...statement, whole: message.content, storedAt: message.receivedAt }, line }
  })
}

/** Everything that the model got, as a text. */
export function deliveredText({ system, messages }: ContextResult): string {
  return JSON.stringify([system, messages])
}

function NotSaid({ thread, query }: { thread: string; query: string }) {
  return (
    <Empty title="No message of the thread has these words">
      <p>Try others: it may have been said in another thread, which the search of all threads finds.</p>
      <Unsearchable thread={thread} />
      <p>
        <Link to="/search" search={{ query }}>
          Search all threads
        </Link>
      </p>
    </Empty>
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
