import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agentIdOf } from '@heddle/core'
import { createLocalEmbedder, type Embedder } from '@heddle/models'
import { embedItems } from '@heddle/store'
import type { Measured } from '@heddle/test-support/figure'
import { writeMiniLmShapedModel } from '@heddle/test-support/minilm-model'
import type { Bench } from './bench.js'
import { median, timed } from './statistics.js'

const MODEL = 'bench/minilm'
const ITEMS = 100
const AGAIN = 20

/**
 * The vectors of 100 items when they are first looked for, and when they are looked for again, with the vector of the
 * question: what selection waits for before it compares. Then one of them is changed.
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

async function measure(
  { store, projectId, client, fresh, startStages }: Bench,
  embedder: Embedder,
): Promise<Measured[]> {
  const agent = fresh('selector')
  const stages = await startStages('ingest')
  await client.messages.append({ agent, thread: fresh('items'), messages: [{ role: 'user', content: 'hello' }] })
  await stages.stop()
  const items = Array.from({ length: ITEMS }, (_, index) => ({ itemId: randomUUID(), text: textOf(index) }))
  const rows = JSON.stringify(items.map(({ itemId }, index) => ({ id: itemId, name: `item ${index}` })))
  await store.inProject(
    projectId,
    (tx) => tx`
      insert into heddle.items (id, agent_id, type, name)
      select id, ${agentIdOf(projectId, agent)}, 'rule', name
      from json_to_recordset(${rows}::text::json) as given (id uuid, name text)`,
  )
  await embedder.embed(['warm up'])
  const select = async (given = items) => {
    await embedder.embed(['How do I authenticate?'])
    return await embedItems({ store, embedder, projectId, items: given })
  }
  const firstMs = await timed(() => select())
  const againMs: number[] = []
  for (let round = 0; round < AGAIN; round++) againMs.push(await timed(() => select()))
  const changed = await select(items.map((item, index) => (index === 7 ? { ...item, text: textOf(1_007) } : item)))
  return [
    {
      name: 'embed.items',
      value: median(againMs),
      unit: 'ms',
      ceiling: firstMs,
      target: '<= 0.05',
      note: `${ITEMS} items looked for again, p50 of ${AGAIN}, beside the first time`,
    },
    { name: 'embed.items.changed', value: changed.embeddedTexts, unit: 'texts', target: '<= 1' },
  ]
}

function textOf(number: number): string {
  return `rule ${number}\n\n${`Every endpoint of service ${number} answers with a problem document. `.repeat(4)}`
}
