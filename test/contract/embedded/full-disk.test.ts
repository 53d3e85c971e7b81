import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { assertDiskSpace, startEmbeddedPostgres } from '@heddle/embedded'
import { createLogger } from '@heddle/runtime'
import { appendMessages, migrate, openStore } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { fillDisk, smallDisk } from '@heddle/test-support/servers/small-disk'
import { describe, expect, it, onTestFinished } from 'vitest'
import { append, PROJECT, prepared } from '../store/support.js'

const log = createLogger({ level: 'silent', name: 'test' })

describe('a full disk', () => {
  it('makes appends fail with a retryable error that names it, loses nothing, and appends succeed again once there is space', async (context) => {
    const dataDir = smallDisk(160)
    if (dataDir === null) return context.skip('a small disk cannot be mounted: run this as root, with mount allowed')
    const ballast = join(dataDir, 'ballast')
    const running = await startEmbeddedPostgres({ dataDir, log })
    onTestFinished(() => running.stop())
    await migrate({ url: running.adminUrl })
    const store = openStore({ url: running.url, connectionsMax: 1 })
    onTestFinished(() => store.close())
    let stored = 0
    const appendOne = async () => {
      const content = Array.from({ length: 20_000 }, () => Math.random().toString(36)).join('')
      const one = append([prepared({ content })])
      await store.inProject(PROJECT, (tx) => appendMessages(tx, { projectId: PROJECT, appends: [one] }))
      stored += 1
    }
    await appendOne()
    await assertDiskSpace(dataDir)

    await fillDisk(ballast)
    await expect(assertDiskSpace(dataDir)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('The disk that holds'),
      hint: expect.stringContaining('Free space'),
    })
    const refusal = await waitFor(
      () =>
        appendOne().then(
          () => null,
          (error: unknown) => error,
        ),
      { timeoutMs: 60_000, everyMs: 1, what: 'an append to be refused' },
    )
    expect(refusal).toMatchObject({ code: 'SERVICE_UNAVAILABLE', disposition: 'retry' })

    await rm(ballast)
    await waitFor(() => appendOne().then(() => true), { timeoutMs: 30_000, what: 'appends to go on' })
    const [row] = await store.inProject(
      PROJECT,
      (tx) => tx<{ count: number }[]>`
      select count(*)::integer as count from heddle.messages`,
    )
    expect(row?.count).toBeGreaterThanOrEqual(stored)
    await store.close()
    await running.stop()

    await fillDisk(ballast)
    await expect(startEmbeddedPostgres({ dataDir, log })).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: `The disk that holds ${dataDir} is full`,
    })
    await rm(ballast)
    const again = await startEmbeddedPostgres({ dataDir, log })
    await again.stop()
  }, 180_000)
})
