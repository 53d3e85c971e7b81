import type { Connections } from '../doors/http-connections.js'
import type { Pipeline } from '../support.js'
import type { Tenant } from './isolation-tenants.js'

/** The parameters of one attempt: the attacker, the victim, and the interfaces. */
export interface Attempt {
  readonly pipeline: Pipeline
  readonly http: Connections
  readonly attacker: Tenant
  readonly victim: Tenant
  pick<Item>(items: readonly Item[]): Item
}

export interface NamedAttempt {
  readonly name: string
  /** It makes workers work, which is expensive, so it is rare and a run makes very many of the other attempts. */
  readonly isWork?: boolean
  /** Returns everything that the attacker received. */
  run(attempt: Attempt): Promise<string>
}

/** A reference of the victim: unchanged, without its project, or with the attacker's. */
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
