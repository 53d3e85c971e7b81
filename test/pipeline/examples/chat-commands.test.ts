import { type SettingLayer, settingFields } from '@heddle/contracts'
import { answerChatCommand, type ChatReply, createClient } from '@heddle/engine'
import { beforeAll, describe, expect, test } from 'vitest'
import { pipelineOfTests, queueBackends } from '../support.js'

const AGENT = 'coder'

describe.each(queueBackends())('commands of a chat on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('of its agent', () => {
    const tests = pipelineOfTests(mode)
    const say = async (text: string, agent: string | null = AGENT): Promise<ChatReply> => {
      const reply = await answerChatCommand(tests.pipeline.client, { agent, text })
      if (reply === null) throw new Error(`${text} was not taken for a command`)
      return reply
    }
    const shown = async (): Promise<string[]> => {
      const { messages } = await tests.pipeline.client.contexts.build({
        thread: 'run',
        message: 'go on',
        format: 'neutral',
      })
      return (messages as { content: unknown }[]).map(({ content }) => JSON.stringify(content))
    }
    const append = (content: string) =>
      tests.pipeline.client.messages.append({ agent: AGENT, thread: 'run', messages: [{ role: 'user', content }] })

    beforeAll(async () => {
      await tests.pipeline.start()
    })

    test('save stores the window as a snapshot, which history lists; clear hides it, and restore restores it', async () => {
      await append('the login is broken')
      const saved = await say('/context save before the refactoring')
      expect(saved).toMatchObject({ ok: true, title: 'Context saved', code: null })
      const id = valueNamed(saved, 'Snapshot')
      expect(valueNamed(saved, 'Description')).toBe('before the refactoring')
      expect(valueNamed(saved, 'Messages')).toBe('1')
      expect((await shown()).join()).toContain('the login is broken')

      const history = await say('/context history')
      expect(history.fields).toMatchObject([{ name: expect.stringContaining('before the refactoring') }])
      expect(history.fields[0]?.value).toContain(id)
      expect(await say('/context history nobody')).toMatchObject({ ok: false, code: 'NOT_FOUND' })

      const cleared = await say('/context clear')
      expect(cleared).toMatchObject({ ok: true, fields: [{ name: 'Since' }, { name: 'Threads', value: '1' }] })
      expect((await shown()).join()).not.toContain('the login is broken')

      const restored = await say(`/context restore ${id}`)
      expect(restored).toMatchObject({ ok: true, text: '1 of 1 messages were restored.' })
      expect((await shown()).join()).toContain('the login is broken')
    })

    test('concurrent changes of settings are all kept', async () => {
      await append('hello')
      const changes = [
        'budget 9000',
        'prune.keepLastN 3',
        'max_output_tokens 500',
        'max_summary_tokens 300',
        'compact_to 0.5',
      ]
      const replies = await Promise.all(changes.map((change) => say(`/settings ${change}`)))
      expect(replies.map(({ ok }) => ok)).toEqual(changes.map(() => true))
      expect((await tests.pipeline.client.agents.get(AGENT)).settings).toMatchObject({
        budget: 9_000,
        prune: { keepLastN: 3 },
        maxOutputTokens: 500,
        maxSummaryTokens: 300,
        compactTo: 0.5,
      })
      expect(await say('/settings summarization_provider acme')).toMatchObject({ ok: false, code: 'VALIDATION_ERROR' })
    })

    test('settings are shown, changed by snake_case names, and refused with their name', async () => {
      await append('hello')
      expect(await say('/settings rolling_window')).toMatchObject({
        fields: [{ name: 'rollingWindow', value: '86400' }],
      })
      expect(await say('/settings rolling_window 7200')).toMatchObject({ ok: true, text: 'From 86400 to 7200.' })
      expect(await say('/settings prune.keepLastN 3')).toMatchObject({ ok: true })
      const { settings } = await tests.pipeline.client.agents.get(AGENT)
      expect(settings).toMatchObject({ rollingWindow: 7_200, prune: { keepLastN: 3 } })
      expect((await say('/settings rolling_window none')).ok).toBe(true)
      expect(await say('/settings rolling_window soon')).toMatchObject({ ok: false, code: 'VALIDATION_ERROR' })
      expect(await say('/settings colour red')).toMatchObject({ ok: false, text: expect.stringContaining('setting') })
      expect((await say('/settings')).fields.length).toBeGreaterThan(10)
    })

    test('settings are shown with their sources, in pages that have all of them', async () => {
      const settingLayers: SettingLayer[] = [
        { from: 'file', settings: { budget: 9_000, prune: { keepLastN: 4 } } },
        { from: 'environment', settings: { strategy: 'tree' } },
      ]
      const { store, queues } = tests.pipeline
      const client = createClient({ store, queues, project: 'painters', settingLayers })
      await client.agents.put('painter', { settings: { rollingWindow: 60, prune: { keepLastN: 7 } } })
      const page = async (text: string) => {
        const reply = await answerChatCommand(client, { agent: 'painter', text })
        return reply ?? Promise.reject(new Error(`${text} was not taken for a command`))
      }
      const pages = [await page('/settings')]
      for (let next = nextOf(pages); next !== undefined; next = nextOf(pages)) pages.push(await page(next))
      expect(pages.length).toBeGreaterThan(1)
      const fields = pages.flatMap((each) => each.fields)
      expect(fields.map(({ name }) => name)).toEqual(settingFields().map(({ name }) => name))
      const values = Object.fromEntries(fields.map(({ name, value }) => [name, value]))
      expect(values).toMatchObject({
        rollingWindow: '60 (agent)',
        budget: '9000 (file)',
        strategy: '"tree" (environment)',
        'prune.keepLastN': '7 (agent)',
        disableAutoSummarize: 'false',
      })
      expect(await page('/settings budget')).toMatchObject({ text: expect.stringContaining('Set by: file') })
      expect(await page(`/settings ${pages.length + 1}`)).toMatchObject({ ok: false, code: 'VALIDATION_ERROR' })
    })

    test.each(['/context clear', '/context save', '/context history', '/context restore x', '/settings'])(
      'in a channel without an agent %s says so',
      async (text) => {
        expect(await say(text, null)).toMatchObject({
          ok: false,
          code: 'NOT_FOUND',
          text: 'No agent is active in this channel.',
          fields: [{ name: 'What to do' }],
        })
      },
    )

    test('other messages are left to the bot, and a wrong command is answered with the list of commands', async () => {
      const { client } = tests.pipeline
      expect(await answerChatCommand(client, { agent: AGENT, text: 'hello /context clear' })).toBeNull()
      expect(await answerChatCommand(client, { agent: AGENT, text: '/contexts' })).toBeNull()
      for (const text of [
        '/context',
        '/context burn',
        '/context toString',
        '/context clear everything',
        '/context restore',
      ]) {
        expect(await say(text)).toMatchObject({ ok: false, code: 'VALIDATION_ERROR' })
      }
      const unknown = '/context restore 018f0000-0000-7000-8000-000000000000'
      expect(await say(unknown)).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    })
  })
})

function valueNamed({ fields }: ChatReply, name: string): string {
  return fields.find((field) => field.name === name)?.value ?? ''
}

function nextOf(pages: readonly ChatReply[]): string | undefined {
  return /Next: (.*)$/.exec(pages.at(-1)?.text ?? '')?.[1]
}
