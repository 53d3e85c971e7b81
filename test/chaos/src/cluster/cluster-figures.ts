import type { Measured } from '@heddle/test-support/figure'
import type { FactDamage } from '../facts.js'
import { refusals } from '../figures.js'
import type { Damage } from '../ledger.js'
import type { Size } from '../sizes.js'
import type { Settlement } from '../users/requester-process.js'
import type { Availability, Span } from './availability.js'
import {
  type ClusterFigureName,
  type ClusterName,
  clusterFigureNames,
  isSynchronous,
  nameOnCluster,
} from './cluster-names.js'
import type { ClusterFault } from './faults.js'

export interface FaultSpan extends Span {
  readonly fault: ClusterFault
}

/** The results of a run. */
export interface ClusterFindings {
  readonly name: ClusterName
  readonly size: Size
  readonly damage: Damage
  readonly facts: FactDamage
  readonly drainedSeconds: number
  /** The faults, each until the cluster was whole again. */
  readonly spans: readonly FaultSpan[]
  /** From the first to the last request of the users. */
  readonly used: Span
  readonly available: Readonly<Record<'append' | 'context', Availability>>
  readonly settlements: readonly Settlement[]
  /** Messages. */
  readonly acknowledged: number
  readonly crashes: number
  readonly deadLetters: number
  readonly seconds: number
}

const NONE = '<= 0'
/** A new leader serves within this time, in seconds. */
const FAILOVER = '<= 15'
/** Contexts whose short deadline falls into an outage are refused. */
const BUILT_SHARE_MIN = 0.5

export function clusterFigures(findings: ClusterFindings): Measured[] {
  const { size, damage, facts, settlements, spans, used, available } = findings
  const count = (test: (settlement: Settlement) => boolean) => settlements.filter(test).length
  const unheard = size.contexts - settlements.length
  const faults = (kind: ClusterFault) => spans.filter(({ fault }) => fault === kind).length
  const failovers = spans.filter(({ fault }) => /-(killed|partitioned)$/.test(fault))
  const isOnRedis = findings.name === 'redis.sentinel'
  // Without a standby that confirms commits, a failover may lose some.
  const losesNone = isSynchronous(findings.name) ? { target: NONE } : { note: `in ${failovers.length + 1} failovers` }
  const away = (of: 'append' | 'context', within: readonly Span[] = [used]) => ({
    value: available[of].longestGapMs(used, within) / 1_000,
    unit: 's',
  })
  const byFault = (of: 'append' | 'context') =>
    spans.map((span) => `${span.fault} ${(available[of].longestGapMs(used, [span]) / 1_000).toFixed(1)}`).join(', ')
  const measures: Record<ClusterFigureName, Omit<Measured, 'name'>> = {
    'appends.lost': { value: damage.lost, unit: 'messages', ...losesNone },
    'appends.duplicated': { value: damage.duplicated, unit: 'messages', target: NONE },
    'appends.disordered': { value: damage.disordered, unit: 'messages', target: NONE },
    'appends.gaps': { value: damage.gaps, unit: 'sequence numbers', target: NONE },
    'appends.acknowledged': { value: findings.acknowledged, unit: 'messages', target: `>= ${size.messages}` },
    'appends.away': { ...away('append'), note: byFault('append') },
    'appends.awayAtFailover': { ...away('append', failovers), target: FAILOVER },
    'contexts.away': { ...away('context'), note: byFault('context') },
    'contexts.awayAtFailover': { ...away('context', failovers), target: FAILOVER },
    // A wait without a report has not ended.
    'contexts.hung': { value: count(({ end }) => end === 'hung') + unheard, unit: 'contexts', target: NONE },
    'contexts.late': { value: count(({ end, isLate }) => isLate && end !== 'hung'), unit: 'contexts', target: NONE },
    'contexts.untyped': { value: count(({ end }) => end === 'untyped'), unit: 'contexts', target: NONE },
    'contexts.built': {
      value: count(({ end }) => end === 'built'),
      unit: 'contexts',
      target: `>= ${size.contexts * BUILT_SHARE_MIN}`,
      note: `of ${settlements.length}${refusals(settlements)}`,
    },
    drained: { value: findings.drainedSeconds, unit: 's', target: `<= ${size.drainSecondsMax}` },
    'facts.lost': { value: facts.lost, unit: 'facts', target: NONE, note: `of ${facts.expected}` },
    'facts.surplus': { value: facts.surplus, unit: 'facts', target: NONE },
    'services.crashed': { value: findings.crashes, unit: 'processes', target: NONE },
    'services.deadLetters': { value: findings.deadLetters, unit: 'jobs' },
    'faults.leaderKilled': { value: faults('leader-killed') + 1, unit: 'faults', note: 'one at the end' },
    'faults.leaderPartitioned': { value: faults('leader-partitioned'), unit: 'faults' },
    'faults.redisKilled': { value: faults('redis-killed') + (isOnRedis ? 1 : 0), unit: 'faults' },
    'faults.redisPartitioned': { value: faults('redis-partitioned'), unit: 'faults' },
    'faults.networkSlow': { value: faults('network-slow'), unit: 'faults' },
    'faults.clockJumped': { value: faults('clock-jumped'), unit: 'faults' },
    'faults.servicesRolled': { value: faults('services-rolled'), unit: 'faults' },
    'run.seconds': { value: findings.seconds, unit: 's' },
  }
  return clusterFigureNames.map((figure) => ({ name: nameOnCluster(figure, findings.name), ...measures[figure] }))
}
