import { createClient } from '@heddle/client/http'
import type { NewMessage } from '@heddle/client/interface'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Served, serve } from '../doors/http-support.js'
import { pipelineOfTests, queueBackends } from '../support.js'

const SETTINGS = {
  temperature: 0.3,
  topP: 0.8,
  maxChatTurns: 3,
  toolPermission: 'always',
  maxOutputTokens: 900,
} as const

const calls = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => {
    const id = `call-${from + index}`
    return [
      { role: 'assistant' as const, content: '', toolCalls: [{ id, name: 'Read', arguments: { path: 'a.ts' } }] },
      { role: 'tool_result' as const, toolCallId: id, content: `line ${from + index}\n`.repeat(80) },
    ]
  }).flat()

describe.each(queueBackends())('settings for the model on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('are', () => {
    const tests = pipelineOfTests(mode)
    let http: Served
    beforeAll(async () => {
      http = await serve(tests.pipeline)
    })
    afterAll(() => http?.gateway.close())

    test('kept in the versions of agent and thread, and returned with each context, also when it is rebuilt', async () => {
      const { client } = tests.pipeline
      await tests.start()
      const first = await client.agents.put('caller', { settings: SETTINGS })
      const second = await client.agents.put('caller', { settings: { ...SETTINGS, temperature: 0.7 } })
      expect(second.version).toBe(first.version + 1)
      await client.threads.put('plain', { agent: 'caller', settings: { toolPermission: 'never' } })
      const overHttp = createClient({ url: http.url })
      for (const door of [client, overHttp]) {
        const built = await door.contexts.build({ thread: 'plain', message: 'Hello.' })
        const settings = { ...SETTINGS, model: null, temperature: 0.7, toolPermission: 'never' }
        expect(built).toMatchObject({
          settings,
          turns: { taken: 0, max: 3 },
          receipt: { agentVersion: second.version },
        })
        expect(await client.contexts.get(built.id, { rebuild: true })).toEqual(built)
      }
      await expect(client.agents.put('caller', { settings: { topP: 1.5 } })).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        field: 'settings.topP',
      })
    })

    test('beside the turns since the user spoke, also if a summary covers them', async () => {
      const { client } = tests.pipeline
      await tests.start()
      await client.agents.put('worker', {
        settings: { budget: 4_000, maxChatTurns: 30, sandwich: { preserveTop: 0, preserveBottom: 2 } },
      })
      const append = (messages: readonly NewMessage[]) =>
        client.messages.append({ agent: 'worker', thread: 'long', messages })
      const turns = async () => (await client.contexts.build({ thread: 'long' })).turns
      await append([{ role: 'user', content: 'Read all of it.' }, ...calls(0, 40)])
      await client.threads.waitUntilSettled('long')
      const built = await client.contexts.build({ thread: 'long' })
      expect(built.receipt.entries).toContainEqual(expect.objectContaining({ mode: 'covered' }))
      expect(built.turns).toEqual({ taken: 40, max: 30 })
      expect(built.receipt.notes).toContain('the limit of 30 chat turns is reached: 40 were taken')
      await append(calls(40, 1))
      expect(await turns()).toEqual({ taken: 41, max: 30 })
      expect((await client.threads.get('long')).turns).toEqual({ taken: 41, max: 30 })
      await append([{ role: 'user', content: 'And now?' }])
      expect(await turns()).toEqual({ taken: 0, max: 30 })
      expect((await client.threads.get('long')).turns).toEqual({ taken: 0, max: 30 })
    })

    test('beside the iterations of a run', async () => {
      const { client } = tests.pipeline
      await tests.start()
      await client.agents.put('runner', { settings: { strategy: 'iterations', maxChatTurns: 5 } })
      await client.iterations.append({
        agent: 'runner',
        thread: 'nightly',
        iterations: [1, 2].map((number) => ({ prompt: `go ${number}`, output: `done ${number}` })),
      })
      expect((await client.contexts.build({ thread: 'nightly' })).turns).toEqual({ taken: 2, max: 5 })
      expect((await client.iterations.loop('nightly')).turns).toEqual({ taken: 2, max: 5 })
    })
  })
})
