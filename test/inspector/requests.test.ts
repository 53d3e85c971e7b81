import type { Browser, Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFaults, executablePath, launch, openPage } from './open-page.js'
import { type RecordedThread, startRecordedThread, THREAD } from './recorded-thread.js'
import { COVER, STUB } from './relayed-requests.js'

describe.skipIf(executablePath === null)('the requests of a thread by way of the proxy', () => {
  let recorded: RecordedThread
  let browser: Browser
  beforeAll(async () => {
    recorded = await startRecordedThread()
    browser = await launch()
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await recorded?.close()
  })

  test('are listed with what they cost, and one is opened by the keyboard', async () => {
    const { page, faults, close } = await openPage(browser, recorded.url, { reducedMotion: 'reduce' })
    await page.goto(`${recorded.url}/ui/#/threads/${THREAD}/requests`)
    const table = page.getByRole('region', { name: 'Requests, newest first' })
    await table.getByRole('link').first().waitFor()
    expect(await table.locator('tbody tr').count()).toBe(3)
    expect(await table.getByRole('cell', { name: 'not stored' }).count()).toBe(1)
    await page.getByText('$0.0150 for 3 of them, about $0.0600 unchanged: 75 % less').waitFor()
    await table.getByRole('link').first().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Received and sent' }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })

  test('of all threads are summed up, with recalls, and compared with conversations that stayed unchanged', async () => {
    const { page, faults, close } = await openPage(browser, recorded.url, { reducedMotion: 'reduce' })
    await page.goto(`${recorded.url}/ui/#/threads`)
    await page.getByRole('link', { name: 'Proxy', exact: true }).press('Enter')
    const cells = async (name: string) => {
      const rows = page.getByRole('region', { name }).locator('tbody tr')
      await rows.first().waitFor()
      const cellsOf = async (row: Locator) => (await row.locator('th, td').allTextContents()).map((text) => text.trim())
      return await Promise.all((await rows.all()).map(cellsOf))
    }
    const totals = await cells('Costs by mode and model')
    const { items, comparisons } = await recorded.client.proxy.stats()
    expect(totals.map(([mode]) => mode).sort()).toEqual(['compact', 'compact control'])
    const treated = items.find(({ isControl }) => !isControl)
    expect(totals.find(([mode]) => mode === 'compact')?.slice(8, 11)).toEqual([
      '12',
      '$0.0120',
      `$${treated?.costUsd.toFixed(4)}`,
    ])
    const [compared] = comparisons
    expect(compared?.interval).not.toBeNull()
    const { ratio, interval } = compared ?? {}
    expect((await cells('Costs of a request beside those of unchanged conversations'))[0]?.slice(5)).toEqual([
      ratio?.toFixed(2),
      `${interval?.low.toFixed(2)} to ${interval?.high.toFixed(2)}`,
    ])
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })

  test.each(['light', 'dark'] as const)('show what was replaced, as text, in the %s theme', async (colorScheme) => {
    const { page, faults, close } = await openPage(browser, recorded.url, { reducedMotion: 'reduce', colorScheme })
    const { items } = await recorded.client.proxy.requests({ thread: THREAD })
    await page.goto(`${recorded.url}/ui/#/threads/${THREAD}/requests/${items[0]?.id}`)
    const entries = page.getByRole('list', { name: 'Entries as received and as sent' }).locator('> li')
    await entries.first().waitFor()
    expect(await entries.count()).toBe(50)
    expect(await page.getByText('Part of the summary of entries 1 to 2.').count()).toBe(2)
    const shown = async (name: string) => await page.getByRole('region', { name }).locator('pre').first().innerText()
    const visibleStart = (text: string) => text.slice(0, text.indexOf('\u202E'))
    expect(await shown('Summary that was sent')).toContain(visibleStart(COVER))
    const stub = page.locator('[data-sent="stub"]')
    expect(await stub.count()).toBe(1)
    expect(await stub.locator('section').last().locator('pre').innerText()).toContain(visibleStart(STUB))
    await page.getByText(/^Instructions, tools and parameters/).click()
    expect(await shown('system')).toContain('Be good. <script>')
    expect(await page.getByText('mode compact, by the header').count()).toBe(1)
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Load more' }).press('Enter')
    await entries.nth(59).waitFor()
    expect(await page.title()).not.toBe('ran')
    expect(faults).toEqual([])
    await close()
  })
})
