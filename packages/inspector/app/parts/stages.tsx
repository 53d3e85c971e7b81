import { figure } from '../data/text.js'

const STAGES = ['prune', 'summarize', 'embed'] as const

interface StagesProps {
  readonly headSeq: number
  readonly cursors: Readonly<Record<(typeof STAGES)[number], number>>
}

/** How far each stage has come. */
export function Stages({ headSeq, cursors }: StagesProps) {
  return (
    <ul className="stages" aria-label="Stages">
      {STAGES.map((stage) => {
        const left = Math.max(0, headSeq - cursors[stage])
        return (
          <li key={stage} data-state={left === 0 ? 'done' : 'behind'}>
            {stage} <span>{left === 0 ? 'done' : `${figure(left)} left`}</span>
          </li>
        )
      })}
    </ul>
  )
}
