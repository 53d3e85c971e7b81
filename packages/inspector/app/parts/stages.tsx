import type { StageState } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { stagesQuery } from '../data/queries.js'
import { figure } from '../data/text.js'

const STAGES = ['prune', 'summarize', 'embed'] as const

interface StagesProps {
  readonly headSeq: number
  readonly cursors: Readonly<Record<(typeof STAGES)[number], number>>
}

/** How far each stage has come, and why one that is behind makes no progress. */
export function Stages({ headSeq, cursors }: StagesProps) {
  const isBehind = STAGES.some((stage) => cursors[stage] < headSeq)
  const { data } = useQuery({ ...stagesQuery, enabled: isBehind })
  return (
    <ul className="stages" aria-label="Stages">
      {STAGES.map((stage) => {
        const left = Math.max(0, headSeq - cursors[stage])
        const reason = left === 0 ? null : stopOf(data?.items.find((each) => each.stage === stage))
        return (
          <li key={stage} data-state={left === 0 ? 'done' : 'behind'}>
            {stage} <span>{left === 0 ? 'done' : `${figure(left)} left`}</span>
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
