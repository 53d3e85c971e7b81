import type { StageSample, StageState } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { useMay } from '../data/permissions.js'
import { stageSamplesQuery, stagesQuery } from '../data/queries.js'
import { durationText, figure } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { WideTable } from '../parts/wide-table.js'
import { PauseButton } from './pause-button.js'
import { Standstills } from './standstills.js'
import { Trend } from './trend.js'

export function StageTable() {
  const { data, error, isPending } = useQuery(stagesQuery)
  const samples = useQuery(stageSamplesQuery)
  const mayOperate = useMay('operate')
  if (isPending) return <Loading what="the stages" />
  if (error) return <Failure error={error} />
  return (
    <>
      <WideTable
        name="Stages"
        columns={[
          'Stage',
          'State',
          { figures: 'Waiting' },
          { figures: 'Active' },
          { figures: 'Delayed' },
          { figures: 'Oldest wait' },
          { figures: 'Done a second' },
          { figures: 'Each took' },
          { figures: 'Failed attempts' },
          'Waiting, last hours',
          ...(mayOperate ? ['Change'] : []),
        ]}
      >
        {data.items.map((stage) => (
          <Row key={stage.stage} stage={stage} samples={samples.data?.items ?? []} mayOperate={mayOperate} />
        ))}
      </WideTable>
      <Standstills stages={data.items} />
    </>
  )
}

interface RowProps {
  readonly stage: StageState
  readonly samples: readonly StageSample[]
  readonly mayOperate: boolean
}

function Row({ stage: state, samples, mayOperate }: RowProps) {
  const { stage, waiting, active, delayed, oldestWaitMs, perSecond, meanMs, failed } = state
  const past = samples.map(({ at, stages }) => ({
    at,
    value: stages.find((each) => each.stage === stage)?.waiting ?? 0,
  }))
  return (
    <tr>
      <th scope="row">{stage}</th>
      <td>
        <span className="mark" data-mark={state.paused || state.workers === 0 ? 'error' : 'fine'}>
          {stateText(state)}
        </span>
      </td>
      <td className="number">{figure(waiting)}</td>
      <td className="number">{figure(active)}</td>
      <td className="number">{figure(delayed)}</td>
      <td className="number">{oldestWaitMs === null ? '–' : durationText(oldestWaitMs)}</td>
      <td className="number">{perSecond.toFixed(1)}</td>
      <td className="number">{meanMs === null ? '–' : durationText(meanMs)}</td>
      <td className="number">{figure(failed)}</td>
      <td>
        <Trend points={past} name={`waiting jobs of ${stage}`} />
      </td>
      {mayOperate ? (
        <td>
          <PauseButton stage={state} />
        </td>
      ) : null}
    </tr>
  )
}

function stateText({ paused, workers }: StageState): string {
  if (paused) return 'paused'
  if (workers === 0) return 'no worker'
  return workers === 1 ? '1 worker' : `${figure(workers)} workers`
}
