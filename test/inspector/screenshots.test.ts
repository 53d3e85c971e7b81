import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EmbeddingService, forgetPort, startEmbeddingService } from './journeys.js'
import { executablePath, launch, openPage } from './open-page.js'
import { pictures } from './pictures.js'
import { type RecordedThread, startRecordedThread, THREAD } from './recorded-thread.js'
import { screens } from './screens.js'

/*
 * Pictures of each screen and of the answers of the guide in both themes, for the documentation: `npm run docs:inspector` makes
 * them, in front of its own `heddle up`. `HEDDLE_PICTURES=threads,timeline` limits it to these.
 */

const { HEDDLE_PICTURES: given } = process.env
const names = given?.split(',') ?? []
const isWanted = ({ name }: { readonly name: string }) => names.includes('all') || names.includes(name)
const folder = new URL('../../docs/inspector/', import.meta.url)

describe.skipIf(given === undefined || executablePath === null)('pictures of the documentation', () => {
  let service: EmbeddingService
  let recorded: RecordedThread
  let browser: Browser
  beforeAll(async () => {
    service = await startEmbeddingService()
    recorded = await startRecordedThread(service.environment)
    await forgetPort(recorded)
    browser = await launch()
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await recorded?.close()
    await service?.close()
  })

  // Those of the guide come last: they pin messages and let a stage fail.
  test.each([...screens.filter(isWanted), ...pictures.filter(isWanted)])('$name', async ({ name, show }) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, faults, close } = await openPage(browser, recorded.url, { colorScheme, reducedMotion: 'reduce' })
      await show(page, { url: recorded.url, thread: THREAD, recorded, service })
      await page.screenshot({ path: fileURLToPath(new URL(`${name}-${colorScheme}.png`, folder)) })
      await close()
      expect(faults).toEqual([])
    }
  })
})
