import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { appendHostileThread, HOSTILE_NAME } from './hostile-thread.js'
import { accessibilityFaults, executablePath, launch, openPage } from './open-page.js'
import { type RecordedThread, startRecordedThread, THREAD } from './recorded-thread.js'

describe.skipIf(executablePath === null)('the compactions of a thread', () => {
  let recorded: RecordedThread
  let browser: Browser
  beforeAll(async () => {
    recorded = await startRecordedThread()
    await appendHostileThread(recorded)
    await recorded.settled(THREAD)
    browser = await launch()
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await recorded?.close()
  })
  const open = () => openPage(browser, recorded.url, { reducedMotion: 'reduce' })
  /** Of the thread's own settings; those of budgets in requests follow. */
  const wholeSummary = (page: Page) => page.getByRole('button', { name: /^Whole summary/ }).first()
  const show = async (page: Page, thread: string) => {
    await page.goto(`${recorded.url}/ui/#/threads/${encodeURIComponent(thread)}/compactions`)
    await wholeSummary(page).waitFor()
  }

  test('messages and tokens before and after are those of the interface', async () => {
    const { page, faults, close } = await open()
    await show(page, THREAD)
    const { states } = await recorded.client.threads.get(THREAD)
    const rows = await page
      .getByRole('region', { name: 'Before and after, newest first' })
      .locator('tbody tr')
      .evaluateAll((all) => all.map((row) => (row as unknown as { innerText: string }).innerText.split('\t')))
    const figure = (value: number) => value.toLocaleString('en')
    expect(rows.map(([generation, status, covered, before]) => [generation, status, covered, before])).toEqual(
      [...states]
        .reverse()
        .map(({ generation, status, coveredCount, coveredTokens }) => [
          figure(generation),
          status,
          figure(coveredCount),
          figure(coveredTokens),
        ]),
    )
    expect(faults).toEqual([])
    await close()
  })

  test('the lost details are those of the interface, requested once they are opened', async () => {
    const { page, faults, close } = await open()
    await show(page, THREAD)
    const { states } = await recorded.client.threads.get(THREAD)
    const latest = states.findLast(({ summary }) => summary !== null)
    const { kinds, lost } = await recorded.client.summaries.loss({ thread: THREAD, compaction: latest?.id ?? '' })
    const details = page.getByRole('region', { name: 'Details of the covered messages' })
    expect(await details.count()).toBe(0)
    await page.getByRole('button', { name: `Show what compaction ${latest?.generation} lost` }).press('Enter')
    await details.waitFor()
    const rowsOf = (region: typeof details) =>
      region
        .locator('tbody tr')
        .evaluateAll((all) => all.map((row) => (row as unknown as { innerText: string }).innerText.split('\t')))
    const figure = (value: number) => value.toLocaleString('en')
    expect(await rowsOf(details)).toEqual(
      kinds.map(({ kind, total, summary, pinned, raw, ledger, recall, lost: missing }) => [
        kind,
        ...[total, summary, pinned, raw, ledger, recall, missing].map(figure),
      ]),
    )
    expect(lost.length).toBeGreaterThan(0)
    const shown = await rowsOf(page.getByRole('region', { name: 'Lost details' }))
    expect(shown.map(([kind]) => kind)).toEqual(lost.map(({ kind }) => kind))
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })

  test('the tree leads from the whole summary to its messages by the keyboard alone', async () => {
    const { page, faults, close } = await open()
    await show(page, THREAD)
    const openFirst = async (name: RegExp) => {
      const node = page.getByRole('button', { name, expanded: false }).first()
      const text = await node.innerText()
      await node.focus()
      await page.keyboard.press('Enter')
      return text
    }
    const before = await page.getByRole('button', { name: /^Summary of/ }).count()
    await openFirst(/^Summary of summaries/)
    expect(await page.getByRole('button', { name: /^Summary of/ }).count()).toBeGreaterThan(before)
    const name = await openFirst(/^Summary of messages/)
    const messages = page.getByRole('list', { name: `Messages of: ${name}` })
    await messages.getByRole('article').first().waitFor()
    const { items } = await recorded.client.summaries.list({ thread: THREAD })
    const leaf = items.find(({ kind, from }) => kind === 'leaf' && name.includes(`#${from?.seq} `))
    const behind = await recorded.client.summaries.messages({ thread: THREAD, summary: leaf?.id ?? '' })
    const references = await messages.locator('header code').allInnerTexts()
    expect(references).toEqual(behind.items.map(({ reference }) => reference))
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })

  test('a message, a range and the whole thread are undone and redone', async () => {
    const { page, faults, close } = await open()
    await show(page, THREAD)
    const form = page.getByRole('form', { name: 'Undo compactions' })
    const press = (name: string) => form.getByRole('button', { name, exact: true }).press('Enter')
    const status = (text: RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor()
    const { items } = await recorded.client.summaries.list({ thread: THREAD })
    const from = items[0]?.from
    if (!from) throw new Error('the thread has no summary')
    await form.getByLabel('Reference').fill(from.reference)
    await press('Undo')
    await status(/^Undone: contexts show 1 message verbatim again/)
    await press('Redo')
    await status(/^Redone: 1 message may be compacted again/)
    await form.getByLabel('Undo for').selectOption('range')
    await form.getByLabel('From #').fill(String(from.seq))
    await form.getByLabel('to #').fill(String(from.seq + 5))
    await press('Undo')
    await status(/^Undone: contexts show \d messages verbatim again/)
    await form.getByLabel('Undo for').selectOption('all')
    await press('Redo')
    await status(/^Redone: \d messages may be compacted again/)
    await press('Redo')
    await status(/^Nothing to redo/)
    await press('Undo')
    await status(/^Undone: contexts show \d+ messages/)
    await page.getByRole('heading', { name: 'No summary is in force' }).waitFor({ timeout: 30_000 })
    await press('Redo')
    await status(/^Redone/)
    await wholeSummary(page).waitFor({ timeout: 30_000 })
    expect(faults).toEqual([])
    await close()
  })

  test('an error of an undo is shown as the interface names it', async () => {
    const { page, close } = await open()
    await show(page, THREAD)
    await page.getByLabel('Reference').fill('msg-00000000')
    await page.getByRole('button', { name: 'Undo', exact: true }).first().press('Enter')
    await page.getByRole('alert').getByRole('heading', { name: 'NOT_FOUND' }).waitFor()
    await close()
  })

  test('hostile names, summaries, tools and contents stay text, and the layout holds', async () => {
    const { page, faults, close } = await openPage(browser, recorded.url, { viewport: { width: 360, height: 740 } })
    await show(page, HOSTILE_NAME)
    while ((await page.getByRole('button', { name: /^Summary of/, expanded: false }).count()) > 0)
      await page
        .getByRole('button', { name: /^Summary of/, expanded: false })
        .first()
        .press('Enter')
    await page
      .getByRole('list', { name: /^Messages of/ })
      .first()
      .waitFor()
    const tree = page.getByRole('list', { name: 'Summaries', exact: true })
    await tree.getByText('<script>document.title').first().waitFor()
    expect(await tree.locator(':is(img, svg, script, iframe)').count()).toBe(0)
    // The only links are those of the inspector itself, to the place of a message in the timeline.
    const links = await Promise.all((await tree.locator('a').all()).map((link) => link.getAttribute('href')))
    expect(links.filter((address) => !/^\/ui\/#\/threads\/[^/?#]+\?at=\d+$/.test(address ?? ''))).toEqual([])
    expect(await page.title()).not.toBe('ran')
    const text = await tree.innerText()
    expect(['\u202e', '\u202c', '\u001b'].filter((sign) => text.includes(sign))).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })

  test('a key that may only read sees no button that changes anything', async () => {
    const create = async (role: string) =>
      (await recorded.home.heddle('keys', 'create', '--name', role, '--role', role, '--json')).document.key as string
    const keys = { read: await create('read'), agent: await create('agent'), admin: await create('admin') }
    // The gateway notices its first key within seconds.
    await expect.poll(async () => (await fetch(`${recorded.url}/v1/session`)).status, { timeout: 20_000 }).toBe(401)
    for (const [role, key] of Object.entries(keys)) {
      const { page, close } = await open()
      await page.goto(`${recorded.url}/ui/`)
      await page.getByLabel('Key').fill(key)
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: THREAD }).waitFor()
      await show(page, THREAD)
      const buttons = await page.getByRole('button', { name: /^(Undo|Redo)/ }).count()
      expect([role, buttons > 0]).toEqual([role, role !== 'read'])
      await close()
    }
  })
})
