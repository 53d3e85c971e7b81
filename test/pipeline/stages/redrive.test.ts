import type { Client } from '@heddle/client/interface'
import { projectIdOf } from '@heddle/core'
import { createClient } from '@heddle/engine'
import { waitFor } from '@heddle/test-support'
import { onPostgres } from '@heddle/test-support/servers/queue-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openHome } from '../cli/cli-support.js'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'

/** The threads that the database refuses while the cause lasts. */
const REFUSED = 'refuse me'

/** Embedded differs from postgres only in the origin of the server, not in the handling of dead letters. */
describe.each(queueBackends())('dead letters on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('sent again', () => {
    let pipeline: Pipeline

    beforeAll(async () => {
      pipeline = await openPipeline(mode)
      await pipeline.start(['ingest'])
      await onPostgres(
        pipeline.databaseUrl,
        `create function refuse() returns trigger language plpgsql as $$ begin
           if new.content = '${REFUSED}' then raise insufficient_privilege using message = 'not this one'; end if;
           return new;
         end $$`,
      )
    })
    afterAll(() => pipeline?.close())

    const refuse = () =>
      onPostgres(
        pipeline.databaseUrl,
        'create trigger refuse before insert on heddle.messages for each row execute function refuse()',
      )
    const allow = () => onPostgres(pipeline.databaseUrl, 'drop trigger refuse on heddle.messages')
    const dead = async (client: Client, count: number) =>
      await waitFor(async () => {
        const letters = await client.deadLetters.list({ stage: 'ingest' })
        return letters.length === count && letters
      })
    const contents = async (client: Client, thread: string) =>
      (await client.messages.list({ thread })).items.map(({ content }) => content)

    test('end as one dead letter again while the cause lasts, and are stored when it is gone', async () => {
      const client = pipeline.clientOf('redriven')
      await refuse()
      const refused = client.messages.append({
        agent: 'a',
        thread: 't',
        messages: [{ role: 'user', content: REFUSED }],
      })
      const neighbour = client.messages.append({
        agent: 'a',
        thread: 'neighbour',
        messages: [{ role: 'user', content: 'hello' }],
      })
      await expect(refused).rejects.toMatchObject({ code: 'FORBIDDEN' })
      expect((await neighbour).stored).toBe(1)
      const [first] = await dead(client, 1)
      expect(first).toMatchObject({ attempts: 1, error: { code: 'FORBIDDEN' } })

      expect(await client.deadLetters.redrive()).toEqual({ redriven: 1, refused: [] })
      const again = await waitFor(async () => {
        const letters = await client.deadLetters.list()
        return letters.length > 0 && letters[0]?.id !== first?.id && letters
      })
      expect(again).toMatchObject([{ stage: 'ingest', error: { code: 'FORBIDDEN' } }])

      await allow()
      expect(await client.deadLetters.redrive({ stage: 'ingest' })).toEqual({ redriven: 1, refused: [] })
      await waitFor(async () => (await client.threads.list()).items.some(({ name }) => name === 't'))
      expect(await contents(client, 't')).toEqual([REFUSED])
      expect(await client.deadLetters.list()).toEqual([])
      expect(await client.deadLetters.redrive()).toEqual({ redriven: 0, refused: [] })
    })

    test('from the command line are queued if their payload is readable, and otherwise stay with the reason', async () => {
      const home = await openHome({ ...pipeline.environment, HEDDLE_PROJECT: 'by hand' })
      const client = pipeline.clientOf('by hand')
      await refuse()
      const append = client.messages.append({ agent: 'a', thread: 't', messages: [{ role: 'user', content: REFUSED }] })
      await expect(append).rejects.toMatchObject({ code: 'FORBIDDEN' })
      await pipeline.queues.add('ingest', { projectId: projectIdOf('by hand'), messages: 'none' } as never)
      await dead(client, 2)
      const still = await home.heddle('queues', 'redrive', '--json')
      expect(still.document).toMatchObject({ redriven: 1, refused: [{ reason: expect.stringContaining('requestId') }] })
      await dead(client, 2)
      await allow()
      expect((await home.heddle('queues', 'redrive', '--json')).document).toMatchObject({ redriven: 1 })
      await waitFor(async () => (await client.threads.list()).items.some(({ name }) => name === 't'))
      expect(await contents(client, 't')).toEqual([REFUSED])
      const shown = await home.heddle('queues', '--stage', 'ingest', '--json')
      expect(shown.document.deadLetters).toMatchObject([{ stage: 'ingest', error: { code: 'VALIDATION_ERROR' } }])

      const doctor = async () => {
        const { document } = await home.heddle('doctor', '--json')
        return document.checks.find(({ name }: { name: string }) => name === 'dead letters')
      }
      expect(await doctor()).toMatchObject({ status: 'warn', detail: '1 job was given up' })
      await pipeline.queues.add('ingest', { messages: 'of nobody' } as never)
      await dead(client, 2)
      expect(await doctor()).toMatchObject({ status: 'warn', detail: '2 jobs were given up' })
    })

    test('are refused with a typed error if the selection is invalid', async () => {
      const client = createClient({ store: pipeline.store, queues: pipeline.queues })
      await expect(client.deadLetters.redrive({ limit: 0 })).rejects.toMatchObject({ field: 'limit' })
      await expect(client.deadLetters.list({ stage: 'nothing' as never })).rejects.toMatchObject({ field: 'stage' })
    })
  })
})
