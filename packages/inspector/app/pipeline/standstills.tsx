import type { StageBehind, StageState } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMay } from '../data/permissions.js'
import { stagesBehindQuery } from '../data/queries.js'
import { counted, durationText, figure, timeText, visible } from '../data/text.js'
import { stopOf } from '../parts/stages.js'
import { PauseButton } from './pause-button.js'
import { Redrive } from './redrive.js'

/** A stage that is behind for less than this is at work. */
const AT_WORK_MS = 30_000

const effects = {
  prune: 'Until then contexts show these messages as they were sent.',
  summarize: 'Until then contexts have the summary before it, or one made without a model.',
  embed: 'Until then a search may not find these messages.',
  remember: 'Until then no facts are read from these messages.',
}

/** A sentence for each stage that makes no progress: since when, how much it has left, why, and what to do. */
export function Standstills({ stages }: { stages: readonly StageState[] }) {
  const { data } = useQuery(stagesBehindQuery)
  const all = stages.map((state) => ({ state, behind: data?.items.find(({ stage }) => stage === state.stage) }))
  return (
    <div role="status" className="standstills">
      {all.filter(isStanding).map(({ state, behind }) => (
        <Standstill key={state.stage} state={state} behind={behind} />
      ))}
    </div>
  )
}

interface StandstillProps {
  readonly state: StageState
  /** Undefined for a stage without messages of its own to reach. */
  readonly behind: StageBehind | undefined
}

function isStanding({ state, behind }: StandstillProps): boolean {
  if (stopOf(state) !== null) return true
  if (behind === undefined || behind.threads === 0) return false
  return behind.failure !== null || (behind.since !== null && Date.now() - Date.parse(behind.since) > AT_WORK_MS)
}

function Standstill({ state, behind }: StandstillProps) {
  const { stage, waiting, oldestWaitMs } = state
  const isBehind = behind !== undefined && behind.threads > 0
  return (
    <section className="standstill" aria-label={`${stage} makes no progress`}>
      <p>
        <strong>{headOf(state, behind)}</strong>
      </p>
      {isBehind ? (
        <Left behind={behind} />
      ) : (
        <p>
          {oldestWaitMs === null
            ? 'Nothing waits for it yet.'
            : `${counted(waiting, 'job')} ${waiting === 1 ? 'waits' : 'wait'}, the oldest since ${timeText(new Date(Date.now() - oldestWaitMs).toISOString())}.`}
        </p>
      )}
      <Remedy state={state} behind={behind} />
    </section>
  )
}

function headOf(state: StageState, behind: StageBehind | undefined): string {
  const { stage, delayed } = state
  const stop = stopOf(state)
  const failure = behind?.failure ?? null
  if (stop === 'paused') return `${stage} is paused.`
  if (stop !== null) return `${stage} has no worker.`
  if (failure !== null) return `${stage} failed for ${counted(failure.threads, 'thread')}.`
  return delayed > 0 ? `${stage} failed, and is tried again.` : `${stage} is behind, and works.`
}

function Left({ behind: { stage, threads, messages, since, thread, isComplete } }: { behind: StageBehind }) {
  return (
    <p>
      {since === null
        ? ''
        : `Since ${timeText(since)} (${durationText(Date.now() - Date.parse(since))} ago) it has not reached `}
      {isComplete ? '' : 'at least '}
      {counted(messages, 'message')} of {counted(threads, 'thread')}
      {thread === null ? null : (
        <>
          , the first of them in{' '}
          <Link to="/threads/$thread" params={{ thread }}>
            <bdi>{visible(thread)}</bdi>
          </Link>
        </>
      )}
      . {effects[stage]}
    </p>
  )
}

function Remedy({ state, behind }: StandstillProps) {
  const mayOperate = useMay('operate')
  const mayAdminister = useMay('admin')
  const { stage, perSecond, delayed } = state
  const stop = stopOf(state)
  const failure = behind?.failure ?? null
  if (stop === 'paused')
    return mayOperate ? (
      <p>
        <PauseButton stage={state} label="Resume it" />
      </p>
    ) : (
      <p>An admin of the project that the gateway runs for resumes it.</p>
    )
  if (stop !== null)
    return (
      <p>
        Start one where the database is: <code>heddle worker {stage}</code>
      </p>
    )
  if (failure !== null)
    return (
      <>
        <p className="error">{visible(failure.error)}</p>
        <p>
          Mend the cause.{' '}
          {failure.retryAt === null ? '' : `The stage is tried again after ${timeText(failure.retryAt)}. `}
          {mayAdminister ? '' : 'An admin tries it again at once.'}
        </p>
        {mayAdminister ? <Redrive stage={stage} label={`Try ${stage} again now`} /> : null}
      </>
    )
  return (
    <p className="quiet">
      {delayed > 0
        ? `${counted(delayed, 'job')} ${delayed === 1 ? 'waits' : 'wait'} for the next attempt, after growing pauses.`
        : `It does ${figure(Number(perSecond.toFixed(1)))} jobs a second.`}
    </p>
  )
}
