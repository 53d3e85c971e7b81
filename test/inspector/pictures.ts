import type { Page } from 'playwright-core'
import { vi } from 'vitest'
import { type EmbeddingService, STAGING } from './journeys.js'
import { AGENT, type RecordedThread } from './recorded-thread.js'

interface Situation {
  readonly url: string
  readonly recorded: RecordedThread
  readonly service: EmbeddingService
}

export interface Picture {
  readonly name: string
  show(page: Page, situation: Situation): Promise<void>
}

const at = (url: string, path: string) => `${url}/ui/#/threads/${STAGING}${path}`

/** The answers of the guide. */
export const pictures: readonly Picture[] = [
  {
    name: 'guide-port',
    async show(page, { url }) {
      await page.goto(at(url, '/find?query=port%20of%20the%20staging%20database'))
      await page.getByText('messages with these words').waitFor()
      await page
        .getByRole('button', { name: /^Bring it back/ })
        .first()
        .waitFor()
    },
  },
  {
    name: 'guide-lost',
    async show(page, { url }) {
      await page.goto(at(url, '/compactions'))
      await page.getByRole('button', { name: /^Show what .* lost$/ }).click()
      const lost = page.getByRole('region', { name: 'Lost details' })
      await lost
        .getByRole('button', { name: /^Bring it back/ })
        .first()
        .click()
      await lost.getByText('Pinned: the next context shows it verbatim.').waitFor()
      await lost.evaluate('(table) => table.scrollIntoView({ block: "end" })')
    },
  },
  {
    name: 'guide-tokens',
    async show(page, { url }) {
      await page.goto(at(url, '/tools'))
      await page.getByText('takes the most of').waitFor()
      await page.getByText('In the newest context:').first().waitFor()
    },
  },
  {
    name: 'guide-standstill',
    async show(page, { url, recorded: { client }, service }) {
      service.refuse(true)
      const messages = [{ role: 'user' as const, content: 'The backup runs at 03:10.' }]
      await client.messages.append({ agent: AGENT, thread: 'backups', messages })
      await vi.waitFor(
        async () => {
          const { items } = await client.stages.behind()
          if (items.every(({ failure }) => failure === null)) throw new Error('no stage has failed yet')
        },
        { timeout: 60_000, interval: 200 },
      )
      await page.goto(`${url}/ui/#/pipeline`)
      await page
        .getByRole('region', { name: 'embed makes no progress' })
        .getByText(/^embed failed/)
        .waitFor()
    },
  },
]
