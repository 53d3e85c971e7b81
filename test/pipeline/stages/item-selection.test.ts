import type { Client } from '@heddle/client/interface'
import type { NewItem, PartialSettings } from '@heddle/contracts'
import type { Embedder } from '@heddle/models'
import { describe, expect, test } from 'vitest'
import { pipelineOfTests, queueBackends } from '../support.js'

const QUESTION = 'How do I rotate the zanzibar credentials?'

/** The similarity of each text to the question; other texts are unrelated. */
const similarities: readonly (readonly [part: string, similarity: number])[] = [
  ['rotate the zanzibar', 1],
  ['Rotate a key with', 0.6],
  ['Secrets are kept', 0.5],
  ['zanzibar: credentials of', 0.1],
  ['vault.', 0.65],
]

/** An embedder with fixed vectors, so that scores are known, and the texts of each call. */
function fixedEmbedder() {
  const calls: string[][] = []
  const embedder: Embedder = {
    model: 'fixed',
    dimensions: 2,
    async embed(texts) {
      calls.push([...texts])
      return texts.map((text) => {
        const [, cosine] = similarities.find(([part]) => text.toLowerCase().includes(part.toLowerCase())) ?? ['', 0]
        return Float32Array.from([cosine, Math.sqrt(1 - cosine ** 2)])
      })
    },
    async close() {},
  }
  return { calls, embedder }
}

const rule = { type: 'rule', name: 'keys', text: 'Rotate a key with the script.', include: 'agent' } as const
const reference = { type: 'reference', name: 'secrets', text: 'Secrets are kept apart.', include: 'agent' } as const
const rareWord = {
  type: 'reference',
  name: 'zanzibar',
  text: 'zanzibar: credentials of operations.',
  include: 'agent',
} as const
const tools = ['read', 'write', 'list', 'renew', 'revoke', 'seal'].map(
  (name) => ({ type: 'tool', name, serverName: 'vault', description: `vault. ${name}`, include: 'agent' }) as const,
)

describe.each(queueBackends())('the selection of items on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('in a pipeline', () => {
    const held = pipelineOfTests(mode)

    /** An agent with settings of the selection and items; builds a context and returns the names of what was selected. */
    async function openAgent(agent: string, items: readonly NewItem[], search: PartialSettings['search']) {
      const client: Client = held.pipeline.client
      const { calls, embedder } = fixedEmbedder()
      await held.start(['assemble'], { embedder })
      await client.agents.put(agent, { settings: { search } })
      for (const item of items) await client.items.put(agent, item)
      const thread = `${agent}-run`
      await client.threads.put(thread, { agent })
      const select = async (message = QUESTION) => {
        const { items: included, receipt } = await client.contexts.build({ thread, message })
        const names = included.filter(({ includeMode }) => includeMode === 'agent').map(({ name }) => name)
        return { names, receipt }
      }
      return { client, calls, thread, select }
    }

    test('is switched off by the agent: the items of the thread stay, nothing is embedded, and the receipt says so', async () => {
      const always = { type: 'rule', name: 'style', text: 'Be brief.', include: 'always' } as const
      const { client, calls, thread, select } = await openAgent('off', [always, rule], { enabled: false })
      const { items, receipt } = await client.contexts.build({ thread, message: QUESTION })
      expect(items).toEqual([{ type: 'rule', name: 'style', includeMode: 'always' }])
      const skipped = 'the selection is switched off: search.enabled'
      expect(receipt.selection).toEqual({ model: null, skipped })
      expect(receipt.entries.find(({ item }) => item?.name === 'keys')).toMatchObject({ mode: 'left-out', tokens: 0 })
      expect(calls).toEqual([])

      await client.agents.put('off', { settings: { search: { enabled: true } } })
      expect((await select()).names).toEqual(['keys'])
    })

    test('has parameters of its own for each type, so that many tools displace no rule', async () => {
      const items = [rule, reference, ...tools]
      const together = await openAgent('together', items, { wordShare: 0 })
      expect((await together.select()).names.sort()).toEqual(['list', 'read', 'renew', 'revoke', 'seal'])
      const types = { tool: { topN: 2 }, reference: { minScore: 0.55 } }
      const apart = await openAgent('apart', items, { wordShare: 0, types })
      const { names, receipt } = await apart.select()
      expect(names).toEqual(['list', 'read', 'keys'])
      const reasons = receipt.entries.filter(({ mode: shown }) => shown === 'left-out')
      expect(reasons.find(({ item }) => item?.name === 'secrets')?.reason).toMatch('its score is below 0.55')
      expect(reasons.find(({ item }) => item?.name === 'write')?.reason).toMatch('not among the best 2')
      const without = await openAgent('toolless', items, { wordShare: 0, types: { tool: { enabled: false } } })
      expect((await without.select()).names).toEqual(['keys', 'secrets'])
    })

    test('finds by a rare word what vectors alone miss', async () => {
      const byVectors = await openAgent('vectors', [rule, rareWord], { wordShare: 0 })
      expect((await byVectors.select()).names).toEqual(['keys'])
      const hybrid = await openAgent('hybrid', [rule, rareWord], {})
      expect((await hybrid.select()).names).toEqual(['keys', 'zanzibar'])
    })

    test('is made once for like queries, and again for another query and after a change of an item', async () => {
      const { client, calls, select } = await openAgent('like', [rule, reference], {})
      const { names } = await select()
      const made = calls.length
      expect(made).toBeGreaterThan(0)
      expect((await select('how do I  rotate the Zanzibar credentials')).names).toEqual(names)
      expect(calls).toHaveLength(made)
      await select('Which secrets are there?')
      expect(calls).toHaveLength(made + 1)
      await client.items.put('like', { ...rule, text: 'Ask the owner.' })
      expect((await select()).names).toEqual(['secrets'])
      expect(calls.length).toBeGreaterThan(made + 1)
    })

    test('takes more items of a large budget and fewer of a small one if its numbers fit the budget', async () => {
      const fixed = await openAgent('fixed', tools, { wordShare: 0, topN: 2 })
      expect((await fixed.select()).names).toHaveLength(2)
      const large = await openAgent('large', tools, { wordShare: 0, topN: 2, fitBudget: true })
      expect((await large.select()).names).toHaveLength(6)
      await large.client.agents.put('large', {
        settings: { search: { fitBudget: true, topN: 2 }, sections: { allocations: { selected: 6 } } },
      })
      expect((await large.select()).receipt.entries.map(({ reason }) => reason)).toContainEqual(
        expect.stringMatching('not among the best 1,'),
      )
    })
  })
})
