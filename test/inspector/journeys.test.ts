import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  type EmbeddingService,
  forgetPort,
  outgrowWindow,
  STAGING,
  startEmbeddingService,
  TICKETS,
} from './journeys.js'
import { accessibilityFaults, executablePath, launch, openPage } from './open-page.js'
import { AGENT, type RecordedThread, startRecordedThread, THREAD } from './recorded-thread.js'

describe.skipIf(executablePath === null)('questions of somebody who knows the page from its guide', () => {
  let service: EmbeddingService
  let recorded: RecordedThread
  let browser: Browser
  beforeAll(async () => {
    service = await startEmbeddingService()
    recorded = await startRecordedThread(service.environment)
    await forgetPort(recorded)
    await outgrowWindow(recorded)
    browser = await launch()
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await recorded?.close()
    await service?.close()
  })
  const open = () => openPage(browser, recorded.url, { reducedMotion: 'reduce' })
  const showThread = async (page: Page, thread: string) => {
    await page.goto(`${recorded.url}/ui/`)
    await page.getByRole('link', { name: thread, exact: true }).press('Enter')
    await page.getByRole('heading', { name: thread, level: 1 }).waitFor()
  }
  const view = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Views of the thread' }).getByRole('link', { name, exact: true })
  const statements = (page: Page) => page.getByRole('list', { name: 'Messages of the thread' }).getByRole('article')

  test('the reply that asked for the port, its context, and each message lead to the same question', async () => {
    const { page, faults, close } = await open()
    await showThread(page, STAGING)
    await page.getByRole('button', { name: 'View Context' }).first().press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Request context' })
    await dialog.getByText('Besides its messages').waitFor()
    await dialog.getByRole('link', { name: 'Did it see this?' }).press('Enter')
    await page.getByRole('heading', { name: 'Did the model see it?' }).waitFor()
    expect(page.url()).toMatch(/find\?context=/)
    await page.goto(`${recorded.url}/ui/#/search?query=8432`)
    const hit = page
      .getByRole('list', { name: 'Messages found' })
      .getByRole('article')
      .filter({ hasText: '8432 there' })
    await hit
      .getByRole('link', { name: /^Did it see this/ })
      .first()
      .press('Enter')
    await page.getByText(/a summary.* stands for it/).waitFor()
    expect(page.url()).toMatch(/find\?message=\d+$/)
    await showThread(page, STAGING)
    await page
      .getByRole('link', { name: /^Did it see this\? msg-/ })
      .first()
      .press('Enter')
    await page.getByText('It was stored after this context was built: later ones may show it.').waitFor()
    expect(faults).toEqual([])
    await close()
  })

  test('why does the agent not know the port: from the thread to the message, and into the next context', async () => {
    const { page, faults, close } = await open()
    await showThread(page, STAGING)
    await view(page, 'Did it see this?').press('Enter')
    await page.getByLabel('Words of a statement').fill('port of the staging database')
    await page.keyboard.press('Enter')
    const answer = page.getByRole('status').filter({ hasText: 'messages with these words' })
    await answer.waitFor()
    // The port is in the last line of what the search returns, and first in what is nowhere.
    expect(await answer.innerText()).toMatch(/^(No|In part)\. .*behind a summary.*Nowhere in it: 8432,/s)
    const said = statements(page).filter({ hasText: 'a summary stands for it' }).first()
    const reference = /msg-\w+/.exec(await said.innerText())?.[0] ?? ''
    expect(await said.innerText()).toMatch(/Nowhere in this context: 8432,/)
    expect(await accessibilityFaults(page)).toEqual([])
    await said.getByRole('button', { name: /^Bring it back/ }).press('Enter')
    await said.getByText('Pinned: the next context shows it verbatim.').waitFor()
    await page.getByLabel('In the context of').selectOption('now')
    await page.getByText('In a context that would be built now').waitFor()
    const next = await recorded.client.contexts.build({ thread: STAGING, budget: 6_000, format: 'anthropic' })
    expect(JSON.stringify(next.messages)).toContain('8432')
    await recorded.client.pins.remove({ thread: STAGING, messageId: reference })
    expect(faults).toEqual([])
    await close()
  })

  test('a message that is older than the window is not offered a pin, which would not show it', async () => {
    const { page, faults, close } = await open()
    await page.goto(`${recorded.url}/ui/#/threads/${TICKETS}/find?query=port+of+the+test+server`)
    const said = statements(page).filter({ hasText: '9911' })
    await said.getByText('It is not in this context: it is older than the rolling window.').waitFor()
    expect(await said.getByRole('button').count()).toBe(0)
    await page.getByRole('link', { name: 'the context of' }).press('Enter')
    await page.getByRole('link', { name: '1 not shown' }).press('Enter')
    await page.getByText('1 message: older than the rolling window').waitFor()
    expect(faults).toEqual([])
    await close()
  })

  test('what did this compaction lose, bring it back: also of contexts that are requested with a budget', async () => {
    const { page, faults, close } = await open()
    await showThread(page, STAGING)
    await view(page, 'Compactions').press('Enter')
    await page.getByText('Requests with a budget, model or strategy of their own have').waitFor()
    await page.getByRole('button', { name: /^Show what the whole summary .* lost$/ }).press('Enter')
    const lost = page.getByRole('region', { name: 'Lost details' })
    await lost.waitFor()
    const first = lost.locator('tbody tr').first()
    const [, detail = ''] = await first.getByRole('cell').allInnerTexts()
    const reference = await first.getByRole('link').innerText()
    await first.getByRole('button', { name: /^Bring it back/ }).press('Enter')
    await first.getByText('Pinned: the next context shows it verbatim.').waitFor()
    const next = await recorded.client.contexts.build({ thread: STAGING, budget: 6_000, format: 'anthropic' })
    expect(JSON.stringify(next.messages)).toContain(detail.slice(0, 40))
    // The pin ends the summary whose details are read, and the context has another one, which can be chosen.
    await page.getByLabel('Summary', { exact: true }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await first.getByRole('link').press('Enter')
    await page.getByRole('heading', { name: reference }).waitFor()
    await recorded.client.pins.remove({ thread: STAGING, messageId: reference })
    expect(faults).toEqual([])
    await close()
  })

  test('an undo says which messages it is for, and is taken back by the button beside its outcome', async () => {
    const { page, close } = await open()
    await page.goto(`${recorded.url}/ui/#/threads/${THREAD}/compactions`)
    await page
      .getByRole('button', { name: /^Undo for all of #\d+ to #\d+/ })
      .first()
      .press('Enter')
    await page.getByText(/^Undone: contexts show \d+ messages/).waitFor()
    await page.getByRole('button', { name: 'Take this undo back' }).press('Enter')
    await page.getByText(/^Redone: \d+ messages may be compacted again/).waitFor()
    await close()
  })

  test('which tool results eat my tokens: those that the newest context shows', async () => {
    const { page, faults, close } = await open()
    await showThread(page, STAGING)
    await view(page, 'Tokens').press('Enter')
    await page.getByText(/takes the most of/).waitFor()
    const [newest] = (await recorded.client.contexts.list({ thread: STAGING, limit: 1 })).items
    const { items } = await recorded.client.messages.toolUse(STAGING, { context: newest?.id })
    const figure = (value: number) => value.toLocaleString('en')
    const rows = page.getByRole('region', { name: 'Tools, the most tokens first' }).locator('tbody tr')
    for (const [index, { tool, shown }] of items.entries())
      expect(await rows.nth(index).innerText()).toMatch(
        new RegExp(`^${tool}\\b[\\s\\S]*\\t${figure(shown?.tokens ?? 0)}\\t`),
      )
    expect(items.some(({ shown }) => (shown?.tokens ?? 0) > 0)).toBe(true)
    const [largest] = items.toSorted((one, other) => (other.shown?.tokens ?? 0) - (one.shown?.tokens ?? 0))
    await page.getByText(`${largest?.tool} takes the most of`).waitFor()
    const messages = page.getByRole('list', { name: 'Largest messages' })
    await messages.getByText('In the newest context: behind a summary').first().waitFor()
    await messages
      .getByText(/In the newest context: (verbatim|in a shorter form), \d/)
      .first()
      .waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })

  test('why is nothing embedded since noon: since when, of which threads, why, and again once it is mended', async () => {
    const { page, faults, close } = await open()
    service.refuse(true)
    await recorded.client.messages.append({
      ...{ agent: AGENT, thread: 'backups' },
      messages: [{ role: 'user', content: 'The backup runs at 03:10.' }],
    })
    await vi.waitFor(
      async () => {
        const { items } = await recorded.client.stages.behind()
        expect(items.find(({ stage }) => stage === 'embed')?.failure?.error).toMatch(/refused the key/)
      },
      { timeout: 30_000, interval: 200 },
    )
    await page.goto(`${recorded.url}/ui/#/threads?search=backups`)
    await page.getByRole('link', { name: 'See the pipeline' }).press('Enter')
    const standing = page.getByRole('region', { name: 'embed makes no progress' })
    await standing.getByText('embed failed for 1 thread.').waitFor()
    expect(await standing.innerText()).toMatch(
      /Since .+ ago\) it has not reached 1 message of 1 thread, the first of them in backups\. Until then a search may not find these messages\.[\s\S]*UNAUTHORIZED.*refused the key/,
    )
    expect(await accessibilityFaults(page)).toEqual([])
    service.refuse(false)
    await standing.getByRole('button', { name: 'Try embed again now' }).press('Enter')
    await standing.waitFor({ state: 'hidden', timeout: 30_000 })
    expect(faults).toEqual([])
    await close()
  })
})
