import { useTitle } from '../shell/title.js'
import { DeadLetters } from './dead-letters.js'
import { Findings } from './findings.js'
import { StageTable } from './stage-table.js'

/** Queues and workers, jobs that failed permanently, and the checks of doctor. */
export function PipelineScreen() {
  useTitle('Pipeline')
  return (
    <div className="screen">
      <h1>Pipeline</h1>
      <StageTable />
      <DeadLetters />
      <Findings />
    </div>
  )
}
