import type { Measured } from '@heddle/test-support/figure'
import type { Disturbance } from './disturb.js'
import type { FactDamage } from './facts.js'
import type { Damage } from './ledger.js'
import type { BackendName } from './servers.js'
import type { Size } from './sizes.js'
import type { Settlement } from './users/requester-process.js'

/** The results of a run. */
export interface Findings {
  readonly backend: BackendName
  readonly size: Size
  readonly damage: Damage
  readonly facts: FactDamage
  readonly drainedSeconds: number
  readonly settlements: readonly Settlement[]
  readonly disturbance: Disturbance
  /** Messages. */
  readonly acknowledged: number
  readonly crashes: number
  readonly deadLetters: number
  readonly seconds: number
}

/** Names without the backend, in the order in which they are printed. */
export const figureNames = [
  'ingest.lost',
  'ingest.duplicated',
  'ingest.disordered',
  'ingest.gaps',
  'ingest.drained',
  'ingest.acknowledged',
  'facts.lost',
  'facts.surplus',
  'await.hung',
  'await.late',
  'await.untyped',
  'await.built',
  'workers.crashed',
  'workers.deadLetters',
  'faults.workerKilled',
  'faults.workerPaused',
  'faults.redisKilled',
  'faults.postgresRestarted',
  'faults.connectionsCut',
  'faults.serverSilent',
  'faults.queuesEmptied',
  'faults.jobsRemoved',
  'faults.eventsTrimmed',
  'run.seconds',
] as const
type FigureName = (typeof figureNames)[number]

const NONE = '<= 0'

export function figuresOf(findings: Findings): Measured[] {
  const { size, damage, facts, settlements, disturbance } = findings
  const count = (test: (settlement: Settlement) => boolean) => settlements.filter(test).length
  const faults = (kind: string) => disturbance.faults.get(kind) ?? 0
  const unheard = size.contexts - settlements.length
  const awaited = `of ${size.contexts} that were awaited`
  const isLate = (one: Settlement) => one.isLate && one.end !== 'hung'
  const measures: Record<FigureName, Omit<Measured, 'name'>> = {
    'ingest.lost': { value: damage.lost, unit: 'messages', target: NONE },
    'ingest.duplicated': { value: damage.duplicated, unit: 'messages', target: NONE },
    'ingest.disordered': { value: damage.disordered, unit: 'messages', target: NONE },
    'ingest.gaps': { value: damage.gaps, unit: 'sequence numbers', target: NONE },
    'ingest.drained': { value: findings.drainedSeconds, unit: 's', target: `<= ${size.drainSecondsMax}` },
    'ingest.acknowledged': { value: findings.acknowledged, unit: 'messages', target: `>= ${size.messages}` },
    'facts.lost': { value: facts.lost, unit: 'facts', target: NONE, note: `of ${facts.expected}` },
    'facts.surplus': { value: facts.surplus, unit: 'facts', target: NONE },
    // A wait without a report has not ended.
    'await.hung': {
      value: count(({ end }) => end === 'hung') + unheard,
      unit: 'contexts',
      target: NONE,
      note: awaited,
    },
    'await.late': { value: count(isLate), unit: 'contexts', target: NONE, note: awaited },
    'await.untyped': { value: count(({ end }) => end === 'untyped'), unit: 'contexts', target: NONE },
    'await.built': {
      value: count(({ end }) => end === 'built'),
      unit: 'contexts',
      note: `of ${settlements.length}${refusals(settlements)}`,
    },
    'workers.crashed': { value: findings.crashes, unit: 'processes', target: NONE },
    'workers.deadLetters': { value: findings.deadLetters, unit: 'jobs' },
    'faults.workerKilled': { value: faults('worker-killed'), unit: 'faults' },
    'faults.workerPaused': { value: faults('worker-paused'), unit: 'faults' },
    'faults.redisKilled': { value: faults('redis-killed'), unit: 'faults' },
    'faults.postgresRestarted': { value: faults('postgres-restarted'), unit: 'faults' },
    'faults.connectionsCut': { value: faults('connections-cut'), unit: 'faults' },
    'faults.serverSilent': { value: faults('server-silent'), unit: 'faults' },
    'faults.queuesEmptied': { value: faults('queues-emptied'), unit: 'faults' },
    'faults.jobsRemoved': { value: faults('jobs-removed'), unit: 'faults' },
    'faults.eventsTrimmed': { value: faults('events-trimmed'), unit: 'faults' },
    'run.seconds': { value: findings.seconds, unit: 's' },
  }
  return figureNames.map((name) => ({ name: nameOn(name, findings.backend), ...measures[name] }))
}

/** How often each error ended a wait, by its code, the first word of its report. */
export function refusals(settlements: readonly Settlement[]): string {
  const counts = new Map<string, number>()
  for (const { end, detail } of settlements) {
    if (end !== 'refused') continue
    const [code = ''] = detail.split(':')
    counts.set(code, (counts.get(code) ?? 0) + 1)
  }
  return [...counts].map(([code, count]) => `; ${code} ${count}`).join('')
}

export function nameOn(name: string, backend: BackendName): string {
  return `${name}.${backend}`
}
