import { agentIdOf, projectIdOf } from '@heddle/core'
import { createHashingEmbedder } from '@heddle/models'
import { createExactVectors, findWords, loadPostedThreads, type Tx } from '@heddle/store'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nodesOf, type PlanNode, plansOf as plansIn } from '../store/plans-of.js'
import { freshStore, prepared, type TestStore } from '../store/support.js'
import { index, PROJECT_NAME, said } from './support.js'

const THREADS = 8
const MESSAGES = 250
/** A model whose vectors are stored: not those of a hashing embedder. */
const STORED_MODEL = 'words-384'
const remade = createHashingEmbedder()

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
      // The vectors of this model replace those of the other.
      if (agent === 'beside') {
        await index(database, { agent, thread: `${agent} ${thread}` }, { ...remade, model: STORED_MODEL })
      }
    }
  }
})
afterAll(() => database.drop())

const plansOf = (work: (tx: Tx) => Promise<unknown>) => plansIn(database.store, projectIdOf(PROJECT_NAME), work)

it('word search reads its tables only through their indexes, a few pages for each term', async () => {
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
  // Two descents of the block index for each term and segment, and a page of its row: three levels at most at this size.
  const pairs = terms.length * (await segmentsOf(agentId))
  expect(found).toBeLessThan(60)
  expect(blocks === undefined ? 0 : pagesOf(blocks)).toBeLessThanOrEqual(8 * pairs)
})

it.each([
  ['stored vectors', 'beside', STORED_MODEL, undefined, ['vectors']],
  [
    'vectors that are made again',
    'scope',
    remade.model,
    (texts: readonly string[]) => remade.embed(texts),
    ['vectors', 'messages'],
  ],
] as const)(
  'a search by %s reads the rows of its agent and model through their indexes, each once',
  async (_, agent, model, remake, tables) => {
    const projectId = projectIdOf(PROJECT_NAME)
    const agentId = agentIdOf(projectId, agent)
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
          model,
          query,
          thread: null,
          limit: 10,
          remake,
        }
        const { documents, chunks } = await exact.nearest({ ...request, isWanted: () => true })
        expect([documents.length, chunks]).toEqual([10, THREADS * MESSAGES])
      })
    const plans = await search()
    expectIndexed(plans, ['vector_threads', 'posting_threads', ...tables])
    const [, vectors] = plans
    expect(vectors?.['Actual Rows']).toBeLessThanOrEqual(THREADS * MESSAGES)
    // Rows in memory are not read again.
    expect(await search()).toHaveLength(1)
  },
)

/** Every table is read by an index, with a condition that finds no more rows than needed. */
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
