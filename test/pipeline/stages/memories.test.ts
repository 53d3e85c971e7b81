import type { Client } from '@heddle/client/interface'
import type { ContextResult } from '@heddle/contracts'
import { describe, expect, test } from 'vitest'
import { searchDatabase } from '../canaries.js'
import { pipelineOfTests, queueBackends } from '../support.js'

const AGENT = 'rememberer'
const DAY_MS = 86_400_000
const PORT = 'The pelican service listens on port qqport4711, behind the proxy.'
const KEY = 'The flamingo key is rotated on Tuesdays.'
const NOW = 'Let us look at the pelican service and its flamingo key.'

const memoriesOf = ({ receipt }: ContextResult) =>
  receipt.entries.filter(({ section, mode }) => section === 'memories' && mode !== 'left-out')
const found = (client: Client, query: string) => async () => (await client.search({ query, agent: AGENT })).items.length

describe.each(queueBackends())('memories on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('are', () => {
    const tests = pipelineOfTests(mode)

    test('found in other threads and outside of the window, within their budget, rebuilt as delivered, and erased with their thread', async () => {
      const { client, databaseUrl } = tests.pipeline
      await tests.start()
      const sentAt = new Date(Date.now() - 3 * DAY_MS).toISOString()
      await client.messages.append({ agent: AGENT, thread: 'before', messages: [{ role: 'user', content: PORT }] })
      await client.messages.append({
        agent: AGENT,
        thread: 'now',
        messages: [
          { role: 'user', content: KEY, sentAt },
          { role: 'user', content: NOW, sentAt: new Date().toISOString() },
        ],
      })
      await expect.poll(found(client, 'pelican flamingo'), { timeout: 20_000 }).toBe(3)

      const message = 'On which port is the pelican, and when is the flamingo key rotated?'
      const plain = await client.contexts.build({ thread: 'now', message })
      expect(JSON.stringify(plain)).not.toMatch(/qqport|Tuesdays|memor/)
      const built = await client.contexts.build({ thread: 'now', message, memories: true, format: 'anthropic' })
      const memories = memoriesOf(built)
      expect(memories.map(({ memory }) => memory?.thread).sort()).toEqual(['before', 'now'])
      const text = JSON.stringify(built.messages)
      expect(text).toContain(PORT)
      expect(text).toContain(KEY)
      expect(text.split(NOW)).toHaveLength(2)
      expect(built.receipt.memories).toMatchObject({ skipped: null })
      const [far] = memories.filter(({ memory }) => memory?.thread === 'before')
      expect(await client.recall({ ref: far?.memory?.reference ?? '' })).toMatchObject({ content: PORT })
      expect(await client.contexts.get(built.id, { rebuild: true })).toEqual(built)

      const small = { tokensMax: memories[0]?.tokens ?? 0, limit: 8 }
      const one = await client.contexts.build({ thread: 'now', message, memories: small })
      expect(memoriesOf(one)).toHaveLength(1)
      const left = one.receipt.entries.filter(({ section, mode }) => section === 'memories' && mode === 'left-out')
      expect(left.map(({ reason }) => reason)).toEqual([`does not fit the ${small.tokensMax} tokens for memories`])

      // A lasting instruction shares no word with the request.
      const told = { role: 'user' as const, content: 'I am Ann. Always answer in verse.' }
      await client.messages.append({ agent: AGENT, thread: 'before', messages: [told] })
      const ruled = () => client.contexts.build({ thread: 'now', message, memories: { instructions: true } })
      const reasons = async () => memoriesOf(await ruled()).map(({ reason }) => reason)
      await expect.poll(reasons, { timeout: 20_000 }).toContain('recalled from thread "before"; a lasting instruction')
      const withRule = await ruled()
      expect(JSON.stringify(withRule.messages)).toContain('Always answer in verse.')
      expect(JSON.stringify(withRule.messages)).not.toContain('I am Ann')
      expect(
        JSON.stringify((await client.contexts.build({ thread: 'now', message, memories: true })).messages),
      ).not.toContain('verse')
      expect(await client.contexts.get(withRule.id, { rebuild: true })).toEqual(withRule)

      await client.threads.delete('before')
      await expect(client.contexts.get(built.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect(await searchDatabase(databaseUrl, ['qqport4711'])).toEqual(new Map())
      const after = await client.contexts.build({ thread: 'now', message, memories: true })
      expect(memoriesOf(after).map(({ memory }) => memory?.thread)).toEqual(['now'])

      await client.agents.clear(AGENT)
      await client.messages.append({ agent: AGENT, thread: 'now', messages: [{ role: 'user', content: 'anew' }] })
      expect(memoriesOf(await client.contexts.build({ thread: 'now', message, memories: true }))).toEqual([])
    })
  })
})
