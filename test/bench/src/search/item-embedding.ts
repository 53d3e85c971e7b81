import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mergeSettings } from '@heddle/contracts'
import { agentIdOf } from '@heddle/core'
import { createLocalEmbedder, type Embedder } from '@heddle/models'
import { loadAgentItems, relevantItems } from '@heddle/store'
import type { Measured } from '@heddle/test-support/figure'
import { writeMiniLmShapedModel } from '@heddle/test-support/models/minilm-model'
import type { Bench } from '../bench.js'
import { median, timed } from '../load/statistics.js'

const MODEL = 'bench/minilm'
const ITEMS = 100
const AGAIN = 20

/**
 * The selection among 100 items for a context: the first time, when all of them are embedded in one batch, and
 * the second time, which embeds only the query and compares. Then one of them is changed.
 */
export async function measureItemEmbedding(bench: Bench): Promise<Measured[]> {
  const modelsDir = await mkdtemp(join(tmpdir(), 'heddle-bench-models-'))
  try {
    await writeMiniLmShapedModel(join(modelsDir, MODEL))
    const embedder = await createLocalEmbedder({ modelsDir, model: MODEL })
    const figures = await measure(bench, embedder)
    await embedder.close()
    return figures
  } finally {
    await rm(modelsDir, { recursive: true, force: true })
  }
}

async function measure({ store, projectId, client, fresh }: Bench, embedder: Embedder): Promise<Measured[]> {
  const agent = fresh('selector')
  const put = (index: number, text: string) =>
    client.items.put(agent, { type: 'rule', name: `item ${index}`, text, include: 'agent' })
  for (let index = 0; index < ITEMS; index++) await put(index, textOf(index))
  const agentId = agentIdOf(projectId, agent)
  const load = () => store.inProject(projectId, (tx) => loadAgentItems(tx, { agentId }))
  let items = await load()
  /** The texts of each call of the embedder. */
  let calls: number[] = []
  const counted: Embedder = {
    ...embedder,
    embed(texts, signal) {
      calls.push(texts.length)
      return embedder.embed(texts, signal)
    },
  }
  const query = 'How do I authenticate?'
  const limits = mergeSettings().search
  const select = () => relevantItems({ store, embedder: counted, projectId, items, query, limits })
  await embedder.embed(['warm up'])
  const firstMs = await timed(select)
  const [batch = 0, ...question] = calls
  const againMs: number[] = []
  for (let round = 0; round < AGAIN; round++) againMs.push(await timed(select))
  await put(7, textOf(1_007))
  items = await load()
  calls = []
  await select()
  return [
    {
      name: 'embed.items',
      value: median(againMs),
      unit: 'ms',
      ceiling: firstMs,
      target: '<= 0.05',
      note: `${ITEMS} items looked for again, p50 of ${AGAIN}, beside the first time: ${batch} texts in one batch, then ${question.join(' and ')} for the question`,
    },
    // The second of the two calls is the query.
    {
      name: 'embed.items.changed',
      value: calls.slice(0, -1).reduce((sum, texts) => sum + texts, 0),
      unit: 'texts',
      target: '<= 1',
    },
  ]
}

function textOf(number: number): string {
  return `rule ${number}\n\n${`Every endpoint of service ${number} answers with a problem document. `.repeat(4)}`
}
