import type { StageState } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { stagesQuery } from '../data/queries.js'
import { figure } from '../data/text.js'

const STAGES = ['prune', 'summarize', 'embed', 'remember'] as const

interface StagesProps {
  readonly headSeq: number
  /** Null for a stage that has no work in the thread: it is not shown. */
  readonly cursors: Readonly<Record<(typeof STAGES)[number], number | null>>
}

/** How far each stage has come, and why one that is behind makes no progress. */
export function Stages({ headSeq, cursors }: StagesProps) {
  const left = STAGES.flatMap((stage) => {
    const cursor = cursors[stage]
    return cursor === null ? [] : [{ stage, count: Math.max(0, headSeq - cursor) }]
  })
  const isBehind = left.some(({ count }) => count > 0)
  const { data } = useQuery({ ...stagesQuery, enabled: isBehind })
  return (
    <ul className="stages" aria-label="Stages">
      {left.map(({ stage, count }) => {
        const reason = count === 0 ? null : stopOf(data?.items.find((each) => each.stage === stage))
        return (
          <li key={stage} data-state={count === 0 ? 'done' : 'behind'}>
            {stage} <span>{count === 0 ? 'done' : `${figure(count)} left`}</span>
            {reason === null ? null : (
              <>
                {', '}
                <Link to="/pipeline">{reason}</Link>
              </>
            )}
          </li>
        )
      })}
    </ul>
  )
}

/** Why a stage makes no progress; null if it works. */
export function stopOf(state: StageState | undefined): string | null {
  if (state === undefined) return null
  if (state.paused) return 'paused'
  return state.workers === 0 ? 'no worker' : null
}
