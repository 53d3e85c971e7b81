import type { Connections } from '../doors/http-connections.js'
import type { Pipeline } from '../support.js'
import { httpAttempts } from './isolation-over-http.js'
import { mcpAttempts } from './isolation-over-mcp.js'
import { queueAttempts } from './isolation-over-queue.js'
import type { Tenant } from './isolation-tenants.js'

/** A secret of one project that another one saw. */
export interface Crossing {
  readonly operation: string
  readonly from: string
  readonly to: string
}

export interface AttackOptions {
  readonly pipeline: Pipeline
  readonly http: Connections
  readonly tenants: readonly Tenant[]
  readonly operations: number
  readonly random: () => number
  onProgress?(done: number): void
}

export interface Attacked {
  readonly done: number
  readonly crossings: readonly Crossing[]
  /** Number of attempts of each kind, by name. */
  readonly tried: ReadonlyMap<string, number>
}

const ATTACKERS = 16
/** One attempt in this many makes workers work. */
const WORK_EVERY = 40

const all = [...httpAttempts, ...mcpAttempts, ...queueAttempts]
const reads = all.filter(({ isWork = false }) => !isWork)
const works = all.filter(({ isWork = false }) => isWork)
export const attemptNames = all.map(({ name }) => name)

/** Requests, as one project, the data of another in every possible way, and searches the answers for the other's secret. */
export async function attack({ tenants, operations, random, onProgress, ...ways }: AttackOptions): Promise<Attacked> {
  const crossings: Crossing[] = []
  const tried = new Map<string, number>()
  let done = 0
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  // Each at least once, also in a short run; then at random.
  const next = (index: number) => all[index] ?? pick(random() * WORK_EVERY < 1 ? works : reads)
  const attackOn = async () => {
    while (done < operations) {
      const { name, run } = next(done++)
      const attacker = pick(tenants)
      const victim = pick(tenants.filter((tenant) => tenant !== attacker))
      const text = await run({ ...ways, attacker, victim, pick }).catch(told)
      tried.set(name, (tried.get(name) ?? 0) + 1)
      for (const { project, canary } of tenants) {
        if (project !== attacker.project && text.includes(canary)) {
          crossings.push({ operation: name, from: project, to: attacker.project })
        }
      }
      onProgress?.(done)
    }
  }
  await Promise.all(Array.from({ length: ATTACKERS }, attackOn))
  return { done, crossings, tried }
}

function told(error: unknown): string {
  return JSON.stringify(error) + String(error)
}
