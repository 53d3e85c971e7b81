import type { Store, Tx } from '@heddle/store'
import { expect } from 'vitest'

/** In the format of the server. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Actual Loops'?: number
  readonly 'Actual Rows'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly PlanNode[]
}

/** The plans of all statements of some work, as the role that row-level security binds. */
export async function plansOf(
  store: Store,
  projectId: string,
  work: (tx: Tx) => Promise<unknown>,
): Promise<PlanNode[]> {
  return await store.inProject(projectId, async (tx) => {
    const [role] = await tx<{ name: string }[]>`select current_user as name`
    expect(role?.name).toBe('heddle_app')
    const explained: Promise<PlanNode>[] = []
    const watched = new Proxy(tx, {
      apply(target, self, given) {
        const query = Reflect.apply(target, self, given) as PromiseLike<unknown>
        const run = query.then
        // Fragments of a statement are never awaited; a statement is, and is also explained.
        const runOnce = (...callbacks: Parameters<typeof run>) => {
          explained.push(explain(target, Reflect.apply(target, self, given)))
          Reflect.set(query, 'then', run)
          return run.apply(query, callbacks)
        }
        Reflect.set(query, 'then', runOnce)
        // A statement that is read row by row is never awaited as a whole.
        const { cursor } = query as unknown as { cursor?: (rows: number) => unknown }
        if (cursor !== undefined) {
          Reflect.set(query, 'cursor', (rows: number) => {
            explained.push(explain(target, Reflect.apply(target, self, given)))
            return cursor.call(query, rows)
          })
        }
        return query
      },
    })
    await work(watched)
    return await Promise.all(explained)
  })
}

async function explain(tx: Tx, statement: ReturnType<Tx>): Promise<PlanNode> {
  const [row] = await tx<{ queryPlan?: [{ Plan: PlanNode }]; 'QUERY PLAN'?: [{ Plan: PlanNode }] }[]>`
    explain (analyze, buffers, format json) ${statement}`
  const plan = Object.values(row ?? {})[0]
  if (plan === undefined) throw new Error('the server explained nothing')
  return plan[0].Plan
}

export function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}
