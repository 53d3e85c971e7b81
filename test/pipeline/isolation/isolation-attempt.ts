import type { Connections } from '../doors/http-connections.js'
import type { Pipeline } from '../support.js'
import type { Tenant } from './isolation-tenants.js'

/** What one attempt has at hand: whose it is, whom it is aimed at, and the ways in. */
export interface Attempt {
  readonly pipeline: Pipeline
  readonly http: Connections
  readonly attacker: Tenant
  readonly victim: Tenant
  pick<Item>(items: readonly Item[]): Item
}

export interface NamedAttempt {
  readonly name: string
  /** Has workers work: as rare as it is dear, so that a run makes very many of the others meanwhile. */
  readonly isWork?: boolean
  /** Gives everything that the attacker was told. */
  run(attempt: Attempt): Promise<string>
}

/** A reference of the victim: as it is, without its project, or with the attacker's. */
export function forgedReference({ attacker, victim, pick }: Attempt): string {
  const reference = pick(victim.references)
  const short = reference.replace(/^.*\/(msg-)/, '$1')
  return pick([
    reference,
    short,
    reference.replace(victim.project, attacker.project),
    `nexora://${victim.project}/${victim.thread}/${short}`,
  ])
}
