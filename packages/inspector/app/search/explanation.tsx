import type { SearchExplanation } from '@heddle/contracts'
import type { ReactNode } from 'react'
import { visible } from '../data/text.js'

/** The reasons for the place of a hit: words, vectors, and rules on the texts. */
export function Explanation({
  explanation: { words, vectors, score, reranked, rule },
}: {
  explanation: SearchExplanation
}) {
  return (
    <details className="explanation">
      <summary>Explanation of its place</summary>
      <dl>
        <dt>score</dt>
        <dd>{score.toFixed(2)}</dd>
        {words === null ? null : <Words words={words} />}
        {vectors === null ? null : (
          <>
            <dt>vectors</dt>
            <dd>
              {vectors.score.toFixed(2)},{' '}
              {vectors.cosine === null ? 'only beside near messages' : `cosine similarity ${vectors.cosine.toFixed(2)}`}
            </dd>
          </>
        )}
        {reranked === null ? null : (
          <>
            <dt>reranked</dt>
            <dd>
              {reranked.score.toFixed(2)}, from place {reranked.from}
            </dd>
          </>
        )}
        {rule === null ? null : (
          <>
            <dt>rule</dt>
            <dd>{RULES[rule]}</dd>
          </>
        )}
      </dl>
    </details>
  )
}

const RULES = {
  newer: 'moved up: it states the newest value',
  coverage: 'moved up: it is the best of its part of the time',
}

function Words({ words }: { words: NonNullable<SearchExplanation['words']> }) {
  const { passage, terms, share, passageScore, neighbours, thread, speaker, side, times } = words
  const added = [
    ['messages beside it', neighbours],
    ['its thread', thread],
    ['its speaker', speaker],
  ] as const
  const factors = [
    ['a reply of a model', side],
    ['a time that it names', times],
  ] as const
  return (
    <>
      <dt>words</dt>
      <dd>
        {passage === null ? (
          'none of the terms'
        ) : (
          <>
            passage {passage}: {passageScore.toFixed(2)}, {Math.round(100 * share)} % of the query
            <ul>
              {terms.map(({ term, score }) => (
                <li key={term}>
                  <bdi>{visible(term)}</bdi> {score.toFixed(2)}
                </li>
              ))}
            </ul>
          </>
        )}
      </dd>
      {added.map(([name, value]) =>
        value > 0 ? (
          <Fact key={name} name={name}>
            + {value.toFixed(2)}
          </Fact>
        ) : null,
      )}
      {factors.map(([name, value]) =>
        value === 1 ? null : (
          <Fact key={name} name={name}>
            × {value}
          </Fact>
        ),
      )}
    </>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}
