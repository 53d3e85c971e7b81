import type { SearchResult } from '@heddle/contracts'
import { Link } from '@tanstack/react-router'
import { visible } from '../data/text.js'

/** Limits of a search that the reader should know of. */
export function HowFound({ how }: { how: Pick<SearchResult, 'model' | 'degraded' | 'isComplete'> }) {
  const { model, degraded, isComplete } = how
  return (
    <>
      <p className="quiet">
        {model === null ? 'Ranked by words.' : `Ranked by words and by the vectors of ${visible(model)}.`}
      </p>
      {degraded === null ? null : (
        <p className="warning">
          {visible(degraded)} <Link to="/pipeline">See the pipeline</Link>
        </p>
      )}
      {isComplete ? null : <p className="warning">Not all messages that may match were searched.</p>}
    </>
  )
}
