import type { StageState } from '@heddle/contracts'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../data/client.js'
import { stagesQuery } from '../data/queries.js'
import { Failure } from '../parts/failure.js'

/** Pauses a stage, or resumes a paused one. */
export function PauseButton({ stage: { stage, paused }, label }: { stage: StageState; label?: string }) {
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: () => (paused ? client.stages.resume(stage) : client.stages.pause(stage)),
    onSettled: () => queries.invalidateQueries({ queryKey: stagesQuery.queryKey }),
  })
  return (
    <>
      <button type="button" disabled={change.isPending} onClick={() => change.mutate()}>
        {label ?? (
          <>
            {paused ? 'Resume' : 'Pause'}
            <span className="unseen"> {stage}</span>
          </>
        )}
      </button>
      {change.error ? <Failure error={change.error} /> : null}
    </>
  )
}
