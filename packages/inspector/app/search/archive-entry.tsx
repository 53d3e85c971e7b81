import type { ArchiveHit } from '@heddle/contracts'
import { counted, figure, timeText, visible } from '../data/text.js'
import { matcherOf, termsOf } from './highlight.js'
import { Highlighted } from './highlighted.js'
import { ResultLink } from './result-link.js'

/** An archived content: the line that contexts show in its place, its size and its accesses. */
export function ArchiveEntry({ hit, query, score }: { hit: ArchiveHit; query: string; score?: number }) {
  const { ref, thread, kind, toolName, filePaths, failed, text, tokenCount, at, accessCount, lastAccessedAt } = hit
  return (
    <article className="hit">
      <h2>
        <ResultLink reference={ref} thread={thread} at={at} query={query} />
      </h2>
      <p className="facts">
        <span>{kind}</span> {toolName === null ? null : <bdi>{visible(toolName)}</bdi>} <bdi>{visible(thread)}</bdi>{' '}
        <time dateTime={at}>{timeText(at)}</time> <span>{figure(tokenCount)} tokens</span>{' '}
        {score === undefined ? null : <span>score {score.toFixed(2)}</span>}
        {failed ? (
          <span className="mark" data-mark="error">
            failed
          </span>
        ) : null}
      </p>
      {filePaths.length > 0 ? (
        <p className="quiet">
          {filePaths.slice(0, 5).map((path) => (
            <code key={path}>{visible(path)} </code>
          ))}
          {filePaths.length > 5 ? `and ${counted(filePaths.length - 5, 'other file')}` : ''}
        </p>
      ) : null}
      <p className="excerpt" dir="auto">
        <Highlighted text={text} matcher={matcherOf(termsOf(query))} />
      </p>
      <p className="quiet">
        {accessCount === 0
          ? 'Never recalled'
          : `Recalled ${counted(accessCount, 'time')}, the last time ${timeText(lastAccessedAt)}`}
      </p>
    </article>
  )
}
