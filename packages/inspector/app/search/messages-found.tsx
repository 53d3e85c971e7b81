import type { SearchHit } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { searchQuery } from '../data/queries.js'
import { counted, timeText, visible } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import type { Conditions } from './conditions.js'
import { Explanation } from './explanation.js'
import { matcherOf, termsOf } from './highlight.js'
import { Highlighted } from './highlighted.js'
import { HowFound } from './how-found.js'
import { ResultLink } from './result-link.js'

export function MessagesFound({ conditions }: { conditions: Conditions }) {
  const { data, error, isPending } = useQuery(searchQuery(conditions))
  if (isPending) return <Loading what="results" />
  if (error) return <Failure error={error} />
  if (data.items.length === 0) return <NothingFound />
  return (
    <>
      <p role="status">{counted(data.items.length, 'message')}, the best first</p>
      <HowFound how={data} />
      <ol className="hits" aria-label="Messages found">
        {data.items.map((hit) => (
          <li key={hit.messageId}>
            <Hit hit={hit} hits={data.items} query={conditions.query ?? ''} />
          </li>
        ))}
      </ol>
    </>
  )
}

export function NothingFound() {
  return (
    <Empty title="Nothing was found">
      <p>Try other words or fewer conditions. Messages are found a moment after they were stored.</p>
    </Empty>
  )
}

function Hit({ hit, hits, query }: { hit: SearchHit; hits: readonly SearchHit[]; query: string }) {
  const { ref, seq, thread, kind, score, at, text, before, after, supersededBy, explanation } = hit
  const stems = explanation?.words?.terms.map(({ term }) => term) ?? []
  const matcher = matcherOf(termsOf(query, stems))
  const newer = hits.find(({ messageId }) => messageId === supersededBy)
  return (
    <article className="hit">
      <h2>
        <ResultLink reference={ref} thread={thread} at={at} query={query} stems={stems} />
      </h2>
      <p className="facts">
        <span>{kind}</span> <bdi>{visible(thread)}</bdi> <time dateTime={at}>{timeText(at)}</time>{' '}
        <span>score {score.toFixed(2)}</span>{' '}
        <Link to="/threads/$thread" params={{ thread }} search={{ at: seq }}>
          In the timeline<span className="unseen"> at {ref.split('/').at(-1)}</span>
        </Link>{' '}
        <Link to="/threads/$thread/find" params={{ thread }} search={{ message: seq }}>
          Did it see this?<span className="unseen"> {ref.split('/').at(-1)}</span>
        </Link>
      </p>
      <Neighbour neighbour={before} />
      <p className="excerpt" dir="auto">
        <Highlighted text={text} matcher={matcher} />
      </p>
      <Neighbour neighbour={after} />
      {supersededBy === null ? null : (
        <p className="warning">
          Replaced since by{' '}
          {newer === undefined ? (
            'a later message'
          ) : (
            <ResultLink reference={newer.ref} thread={newer.thread} at={newer.at} query={query} />
          )}
        </p>
      )}
      {explanation === null ? null : <Explanation explanation={explanation} />}
    </article>
  )
}

function Neighbour({ neighbour }: { neighbour: SearchHit['before'] }) {
  if (neighbour === null) return null
  return (
    <p className="quiet neighbour" dir="auto">
      {neighbour.role.replace('_', ' ')}: {visible(neighbour.text)}
    </p>
  )
}
