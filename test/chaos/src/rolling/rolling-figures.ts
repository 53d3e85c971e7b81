import type { Measured } from '@heddle/test-support/figure'
import type { Availability, Span } from '../cluster/availability.js'
import { refusals } from '../figures.js'
import type { Damage } from '../ledger.js'
import type { BackendName } from '../servers.js'
import type { Size } from '../sizes.js'
import type { Settlement } from '../users/requester-process.js'
import type { Way } from './crowd.js'
import type { DoorLog } from './gateway-door.js'
import type { ContextChanges } from './stored-contexts.js'
import type { Upgraded } from './upgrade.js'

/** Without the backend, in the order in which they are printed. */
export const rollingFigureNames = [
  'requests.failed',
  'requests.answered',
  'queue.failed',
  'attempts.failed',
  'appends.lost',
  'appends.duplicated',
  'appends.disordered',
  'appends.gaps',
  'appends.acknowledged',
  'appends.away',
  'contexts.built',
  'contexts.hung',
  'contexts.late',
  'contexts.away',
  'contexts.changed',
  'stored.changed',
  'stored.differing',
  'services.crashed',
  'services.deadLetters',
  'services.warnings',
  'upgrade.migration',
  'upgrade.seconds',
  'drained',
  'run.seconds',
] as const
type RollingFigureName = (typeof rollingFigureNames)[number]

/** Calls of the users of one way. */
export interface WayFindings {
  readonly settlements: readonly Settlement[]
  /** Acknowledged appends. */
  readonly appends: number
  /** Codes of appends that failed after the retries of the SDK. */
  readonly refused: readonly string[]
}

export interface RollingFindings {
  readonly backend: BackendName
  readonly size: Size
  readonly ways: Readonly<Record<Way, WayFindings>>
  readonly damage: Damage
  /** Messages. */
  readonly acknowledged: number
  readonly available: Readonly<Record<'append' | 'context', Availability>>
  /** From the first to the last request of the users. */
  readonly used: Readonly<Record<'append' | 'context', Span>>
  readonly upgraded: Upgraded
  readonly door: DoorLog
  readonly crashes: number
  readonly deadLetters: number
  readonly warnings: ReadonlyMap<string, number>
  readonly drainedSeconds: number
  readonly seconds: number
}

const NONE = '<= 0'

export function rollingFigures(findings: RollingFindings): Measured[] {
  const { size, ways, damage, available, used, upgraded, door } = findings
  const all = [...ways.http.settlements, ...ways.queue.settlements]
  const count = (test: (settlement: Settlement) => boolean) => all.filter(test).length
  const away = (of: 'append' | 'context') => ({ value: available[of].longestGapMs(used[of]) / 1_000, unit: 's' })
  const stored = ({ changed, compared, identical }: ContextChanges) => ({
    value: changed.length,
    unit: 'answers',
    target: NONE,
    note: `of ${compared}, ${identical} with the same bytes${changed.length === 0 ? '' : `; ${changed.join(', ')}`}`,
  })
  const measures: Record<RollingFigureName, Omit<Measured, 'name'>> = {
    'requests.failed': failed(ways.http),
    'requests.answered': { value: ways.http.appends + built(ways.http), unit: 'requests' },
    'queue.failed': failed(ways.queue),
    'attempts.failed': {
      value: sum(door.failures),
      unit: 'attempts',
      note: `of ${door.requests}, which the SDK repeated${listed(door.failures)}`,
    },
    'appends.lost': { value: damage.lost, unit: 'messages', target: NONE },
    'appends.duplicated': { value: damage.duplicated, unit: 'messages', target: NONE },
    'appends.disordered': { value: damage.disordered, unit: 'messages', target: NONE },
    'appends.gaps': { value: damage.gaps, unit: 'sequence numbers', target: NONE },
    'appends.acknowledged': { value: findings.acknowledged, unit: 'messages' },
    'appends.away': away('append'),
    'contexts.built': { value: count(({ end }) => end === 'built'), unit: 'contexts' },
    'contexts.hung': { value: count(({ end }) => end === 'hung'), unit: 'contexts', target: NONE },
    'contexts.late': { value: count(({ isLate }) => isLate), unit: 'contexts', target: NONE },
    'contexts.away': away('context'),
    'contexts.changed': {
      value: count(({ isChanged }) => isChanged),
      unit: 'contexts',
      target: NONE,
      note: 'read again by their ids',
    },
    'stored.changed': stored(upgraded.before),
    'stored.differing': stored(upgraded.between),
    'services.crashed': { value: findings.crashes, unit: 'processes', target: NONE },
    'services.deadLetters': { value: findings.deadLetters, unit: 'jobs', target: NONE },
    'services.warnings': { value: sum(findings.warnings), unit: 'lines', note: listed(findings.warnings).slice(2) },
    'upgrade.migration': { value: upgraded.migrationSeconds, unit: 's' },
    'upgrade.seconds': { value: upgraded.seconds, unit: 's', note: `${upgraded.steps} steps` },
    drained: { value: findings.drainedSeconds, unit: 's', target: `<= ${size.drainSecondsMax}` },
    'run.seconds': { value: findings.seconds, unit: 's' },
  }
  return rollingFigureNames.map((name) => ({ name: nameOfRolling(name, findings.backend), ...measures[name] }))
}

export function nameOfRolling(name: string, backend: BackendName): string {
  return `rolling.${backend}.${name}`
}

/** Calls that failed after the retries of the SDK. */
function failed({ settlements, refused, appends }: WayFindings): Omit<Measured, 'name'> {
  const contexts = settlements.filter(({ end }) => end !== 'built')
  const untyped = contexts.filter(({ end }) => end === 'untyped').map(({ detail }) => `; ${detail}`)
  const codes = new Map<string, number>()
  for (const code of refused) codes.set(code, (codes.get(code) ?? 0) + 1)
  return {
    value: refused.length + contexts.length,
    unit: 'requests',
    target: NONE,
    note: `of ${appends + refused.length} appends${listed(codes)} and ${settlements.length} contexts${refusals(settlements)}${untyped.join('')}`,
  }
}

function built({ settlements }: WayFindings): number {
  return settlements.filter(({ end }) => end === 'built').length
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0)
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([kind, count]) => `; ${count} ${kind}`).join('')
}
