import type { StageName } from '@heddle/contracts'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../data/client.js'
import { deadLettersQuery, stagesBehindQuery } from '../data/queries.js'
import { counted, visible } from '../data/text.js'
import { Failure } from '../parts/failure.js'

export const REDRIVEN_MAX = 500

interface RedriveProps {
  /** One job; without it the newest ones together. */
  id?: string
  /** Only jobs of this stage. */
  stage?: StageName
  label: string
}

/** Sends jobs that failed permanently again. */
export function Redrive({ id, stage, label }: RedriveProps) {
  const queries = useQueryClient()
  const redrive = useMutation({
    mutationFn: () =>
      client.deadLetters.redrive({ ...(id !== undefined && { id }), ...(stage && { stage }), limit: REDRIVEN_MAX }),
    onSettled: () =>
      Promise.all(
        [deadLettersQuery, stagesBehindQuery].map(({ queryKey }) =>
          queries.invalidateQueries({ queryKey: [...queryKey] }),
        ),
      ),
  })
  return (
    <div>
      <button type="button" disabled={redrive.isPending} onClick={() => redrive.mutate()}>
        {label}
      </button>
      {redrive.error ? <Failure error={redrive.error} /> : null}
      {redrive.data ? (
        <p role="status">
          {counted(redrive.data.redriven, 'job')} sent again
          {redrive.data.refused.map(({ jobId, reason }) => (
            <span key={jobId} className="warning">
              {' '}
              · not sent: {visible(reason)}
            </span>
          ))}
        </p>
      ) : null}
    </div>
  )
}
