import { agentIdOf, projectIdOf } from '@heddle/core'
import { createHashingEmbedder } from '@heddle/models'
import { createExactVectors, findWords, loadPostedThreads, type Tx } from '@heddle/store'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freshStore, prepared, type TestStore } from '../store/support.js'
import { PROJECT_NAME, said } from './support.js'

/** Read as the server gives it. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Rows Removed by Filter'?: number
  readonly 'Actual Loops'?: number
  readonly 'Actual Rows'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly PlanNode[]
}

const THREADS = 8
const MESSAGES = 250

let database: TestStore
beforeAll(async () => {
  database = await freshStore()
  const words = Array.from({ length: 2_000 }, (_, number) => `word${number.toString(36)}`)
  let state = 1
  const random = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  const sentence = () => Array.from({ length: 20 }, () => words[Math.floor(2_000 ** random())]).join(' ')
  for (const agent of ['scope', 'beside']) {
    for (let thread = 0; thread < THREADS; thread++) {
      const messages = Array.from({ length: MESSAGES }, () => prepared({ content: sentence() }))
      await said(database, { agent, thread: `${agent} ${thread}` }, messages)
    }
  }
})
afterAll(() => database.drop())

/** The plans of all statements of some work, as the role that row-level security binds. */
async function plansOf(work: (tx: Tx) => Promise<unknown>): Promise<PlanNode[]> {
  return await database.store.inProject(projectIdOf(PROJECT_NAME), async (tx) => {
    const [role] = await tx<{ name: string }[]>`select current_user as name`
    expect(role?.name).toBe('heddle_app')
    const explained: Promise<PlanNode>[] = []
    const watched = new Proxy(tx, {
      apply(target, self, given) {
        const query = Reflect.apply(target, self, given) as PromiseLike<unknown>
        const run = query.then
        // Parts of a statement are never waited for; a statement is, and is explained beside.
        const runOnce = (...callbacks: Parameters<typeof run>) => {
          explained.push(explain(target, Reflect.apply(target, self, given)))
          Reflect.set(query, 'then', run)
          return run.apply(query, callbacks)
        }
        Reflect.set(query, 'then', runOnce)
        // One that is read row by row is asked for its rows, and never waited for.
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

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

it('word search reads its tables by their indexes alone, a few pages for each term', async () => {
  const agentId = agentIdOf(projectIdOf(PROJECT_NAME), 'scope')
  const terms = ['word1', 'wordab', 'word2z', 'unheard']
  const plans = await plansOf(async (tx) => {
    await findWords(tx, { agentId, terms })
    await loadPostedThreads(tx, [1, 2, 3])
  })
  expect(plans).toHaveLength(3)
  expectIndexed(plans, ['posting_segments', 'posting_blocks', 'posting_threads'])
  const [segments, blocks] = plans
  const found = segments === undefined ? 0 : pagesOf(segments)
  // Down the index of blocks twice for each term and segment, and a page of its row: three levels at most at this size.
  const pairs = terms.length * (await segmentsOf(agentId))
  expect(found).toBeLessThan(60)
  expect(blocks === undefined ? 0 : pagesOf(blocks)).toBeLessThanOrEqual(8 * pairs)
})

it('vector search reads the rows of its agent and model by their indexes alone, and later those that are newer', async () => {
  const projectId = projectIdOf(PROJECT_NAME)
  const agentId = agentIdOf(projectId, 'scope')
  let within: Tx | undefined
  const exact = createExactVectors({
    inSnapshot: async (_, work) => {
      if (within === undefined) throw new Error('nothing is explained yet')
      return await work(within)
    },
    bytesMax: 1e8,
  })
  const search = () =>
    plansOf(async (tx) => {
      within = tx
      const query = Int8Array.from({ length: 384 }, (_, at) => (at % 7) - 3)
      const request = {
        projectId,
        agentIds: [agentId],
        model: createHashingEmbedder().model,
        query,
        thread: null,
        limit: 10,
      }
      const { documents, chunks } = await exact.nearest({ ...request, isWanted: () => true })
      expect([documents.length, chunks]).toEqual([10, THREADS * MESSAGES])
    })
  const plans = await search()
  expectIndexed(plans, ['vector_threads', 'posting_threads', 'vectors'])
  const [, vectors] = plans
  expect(vectors?.['Actual Rows']).toBeLessThanOrEqual(THREADS * MESSAGES)
  // What is in memory is not read again.
  expect(await search()).toHaveLength(1)
})

/** Every table is read by an index, with a condition that finds no more than is wanted. */
function expectIndexed(plans: readonly PlanNode[], tables: readonly string[]): void {
  const reads = plans.flatMap(nodesOf).filter((node) => node['Relation Name'] !== undefined)
  expect(new Set(reads.map((node) => node['Relation Name']))).toEqual(new Set(tables))
  for (const node of reads) {
    expect(node['Node Type']).toMatch(/^Index (Only )?Scan/)
    expect(node['Index Cond']).toBeDefined()
    expect(node['Rows Removed by Filter'] ?? 0).toBeLessThanOrEqual(1)
  }
}

function pagesOf(plan: PlanNode): number {
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
}

async function segmentsOf(agentId: string): Promise<number> {
  return await database.store.inProject(projectIdOf(PROJECT_NAME), async (tx) => {
    const [row] = await tx<{ count: number }[]>`
      select count(*) as count from heddle.posting_segments where agent_id = ${agentId}`
    return row?.count ?? 0
  })
}
