import { chances, wholeNumber } from '@heddle/test-support/samples/chances'
import type { BackendName } from './servers.js'
import type { Size } from './sizes.js'

/** A fault and its victim; `worker` counts from 0. */
export type Fault =
  | { readonly kind: 'redis-killed' | 'postgres-restarted' | 'queues-emptied' | 'jobs-removed' | 'events-trimmed' }
  | { readonly kind: 'worker-paused'; readonly worker: number; readonly forMs: number }
  | { readonly kind: 'connections-cut'; readonly server: ServerName }
  | { readonly kind: 'server-silent'; readonly server: ServerName; readonly forMs: number }

export type ServerName = 'redis' | 'postgres'

/**
 * A fault happens when this share of all messages is acknowledged, from 0 to 1: a slow machine meets the same faults at the
 * same places as a fast one.
 */
export type PlannedFault = Fault & { readonly atShare: number }

export interface Plan {
  /** In their order. */
  readonly faults: readonly PlannedFault[]
  /** The worker of the next kill, in an endless sequence. */
  readonly nextVictim: () => number
}

export const WORKERS = 4

/** Longer than a lock, which lasts 15 s: another worker has the job by the time at which the first one resumes. */
const LONG_PAUSE_MS = { from: 16_000, to: 20_000 }
const SHORT_PAUSE_MS = { from: 300, to: 3_000 }
/** Long enough that clients stop waiting for an answer to a connection. */
const SILENCE_MS = { from: 3_000, to: 5_000 }
/** No fault happens before this share or after the other: too little work would be affected. */
const SHARE = { from: 0.03, to: 0.97 }
/** Long pauses begin by this share, so that they are over before the last fault. */
const LONG_PAUSE_SHARE_MAX = 0.4

/** The faults of a run: the same for the same seed, backend and size. */
export function planFaults(seed: number, backend: BackendName, size: Size): Plan {
  const chance = chances(seed)
  const length = ({ from, to }: { from: number; to: number }) => wholeNumber(chance, from, to)
  const servers: readonly ServerName[] = backend === 'redis' ? ['redis', 'postgres'] : ['postgres']
  const serverOf = (index: number) => servers[index % servers.length] ?? 'postgres'
  const worker = () => wholeNumber(chance, 0, WORKERS - 1)
  const faults = [
    ...spread(backend === 'redis' ? size.redisKills : 0, chance, () => ({ kind: 'redis-killed' as const })),
    ...spread(size.postgresRestarts, chance, () => ({ kind: 'postgres-restarted' as const })),
    ...spread(size.emptiedQueues, chance, () => ({ kind: 'queues-emptied' as const })),
    ...spread(size.jobRemovals, chance, () => ({ kind: 'jobs-removed' as const })),
    ...spread(size.eventTrims, chance, () => ({ kind: 'events-trimmed' as const })),
    ...spread(size.shortPauses, chance, () => ({
      kind: 'worker-paused' as const,
      worker: worker(),
      forMs: length(SHORT_PAUSE_MS),
    })),
    ...spread(
      size.longPauses,
      chance,
      () => ({ kind: 'worker-paused' as const, worker: worker(), forMs: length(LONG_PAUSE_MS) }),
      LONG_PAUSE_SHARE_MAX,
    ),
    ...spread(size.cuts, chance, (index) => ({ kind: 'connections-cut' as const, server: serverOf(index) })),
    ...spread(size.silences, chance, (index) => ({
      kind: 'server-silent' as const,
      server: serverOf(index),
      forMs: length(SILENCE_MS),
    })),
  ]
  const victims = chances(seed + 1)
  return {
    faults: faults.sort((left, right) => left.atShare - right.atShare),
    nextVictim: () => wholeNumber(victims, 0, WORKERS - 1),
  }
}

/** Distributes the faults, one in each equal part of the run. */
function spread<Kind extends Fault>(
  count: number,
  chance: () => number,
  fault: (index: number) => Kind,
  toShare = SHARE.to,
): (Kind & { readonly atShare: number })[] {
  return Array.from({ length: count }, (_, index) => {
    const atShare = SHARE.from + ((index + chance()) / count) * (toShare - SHARE.from)
    return { ...fault(index), atShare: Number(atShare.toFixed(4)) }
  })
}
