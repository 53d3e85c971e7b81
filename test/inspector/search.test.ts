import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { appendHostileThread, HOSTILE_NAME } from './hostile-thread.js'
import { accessibilityFaults, executablePath, launch, openPage } from './open-page.js'
import { AGENT, type RecordedThread, startRecordedThread, THREAD } from './recorded-thread.js'

const isMarked = (line: string) => /(?<![\p{L}\p{N}])(core|calibration)/iu.test(line)

describe.skipIf(executablePath === null)('search and the archive', () => {
  let recorded: RecordedThread
  let browser: Browser
  beforeAll(async () => {
    recorded = await startRecordedThread()
    await appendHostileThread(recorded)
    await recorded.settled(THREAD)
    await recorded.client.messages.append({
      agent: AGENT,
      thread: 'ports',
      messages: [
        { role: 'user', content: 'Remember that the gateway listens on port 4711.' },
        { role: 'assistant', content: 'Noted.' },
      ],
    })
    await recorded.settled('ports')
    browser = await launch()
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await recorded?.close()
  })
  const open = (options = {}) => openPage(browser, recorded.url, { reducedMotion: 'reduce', ...options })
  const show = (page: Page, search = '') => page.goto(`${recorded.url}/ui/#/search${search}`)
  const hits = (page: Page, name: string) => page.getByRole('list', { name, exact: true }).getByRole('article')

  test('a message is found by the keyboard alone, with its terms marked and the reasons for its place', async () => {
    const { page, faults, close } = await open()
    await show(page)
    await page.getByLabel('Words or a sentence').focus()
    await page.keyboard.type('gateway port 4711')
    await page.keyboard.press('Enter')
    const first = hits(page, 'Messages found').first()
    await first.getByText('listens on').waitFor()
    expect(await first.locator('.excerpt mark').allInnerTexts()).toEqual(['gateway', 'port', '4711'])
    await first.getByText('Explanation of its place').focus()
    await page.keyboard.press('Enter')
    const { items } = await recorded.client.search({ query: 'gateway port 4711', explain: true, limit: 50 })
    const { explanation } = items[0] ?? {}
    const text = await first.locator('.explanation').innerText()
    expect(text).toContain(explanation?.score.toFixed(2))
    for (const { term } of explanation?.words?.terms ?? []) expect(text).toContain(term)
    await page.reload()
    await first.getByText('listens on').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })

  test('kind, path, thread, agent and time limit the messages that are found', async () => {
    const { page, close } = await open()
    const count = async (search: string) => {
      await show(page, search)
      await page.locator('.hits, .empty').first().waitFor()
      return await hits(page, 'Messages found').count()
    }
    const found = async (conditions: object) =>
      (await recorded.client.search({ query: 'calibration', limit: 50, ...conditions })).items.length
    const path = 'packages/core/src/search'
    expect(await count('?query=calibration')).toBe(await found({}))
    expect(await count(`?query=calibration&path=${path}`)).toBe(await found({ path }))
    expect(await count('?query=calibration&kind=grep')).toBe(await found({ kinds: ['grep'] }))
    expect(await count('?query=calibration&thread=ports')).toBe(await found({ thread: 'ports' }))
    expect(await found({ kinds: ['grep'] })).toBeLessThan(await found({}))
    const since = '2999-01-01T00:00:00.000Z'
    expect(await count(`?query=calibration&since=${since}`)).toBe(0)
    await page.getByRole('heading', { name: 'Nothing was found' }).waitFor()
    await close()
  })

  test('the archive lists its contents by tool, and finds them by words', async () => {
    const { page, faults, close } = await open()
    await show(page)
    await page.getByLabel('In', { exact: true }).selectOption('archive')
    await hits(page, 'Archived contents').first().waitFor()
    await page.getByLabel('Tool').fill('grep')
    await page.getByLabel('Thread').fill(THREAD)
    await page.getByLabel('Thread').press('Enter')
    await page.waitForURL(/tool=grep/)
    const { items } = await recorded.client.archive.list({ thread: THREAD, tool: 'grep', limit: 50 })
    await expect.poll(() => hits(page, 'Archived contents').count()).toBe(items.length)
    await page.getByLabel('Words or a sentence').fill('calibration')
    await page.keyboard.press('Enter')
    await hits(page, 'Archived contents found').first().waitFor()
    const found = await recorded.client.archive.search({
      query: 'calibration',
      thread: THREAD,
      tool: 'grep',
      limit: 50,
    })
    expect(await hits(page, 'Archived contents found').count()).toBe(found.items.length)
    expect(faults).toEqual([])
    await close()
  })

  test('a result opens in full with line numbers and marked terms, and its accesses are counted', async () => {
    const { page, faults, close } = await open()
    const { items } = await recorded.client.archive.list({ thread: THREAD, tool: 'grep', limit: 500 })
    const contents = await Promise.all(items.map(({ ref }) => recorded.client.recall({ ref, offset: 0 })))
    const place = contents.findIndex(({ content }) => content.split('\n').filter(isMarked).length > 1)
    const [entry, content] = [items[place], contents[place]]
    if (entry === undefined || content === undefined) throw new Error('no result with the term')
    const result = { ref: entry.ref, at: entry.at, query: 'core calibration' }
    await page.goto(`${recorded.url}/ui/#/result?${new URLSearchParams(result)}`)
    const lines = page.getByRole('region', { name: /^Lines of/ })
    const numberOfCurrent = lines.locator('[data-current="true"] .line-number')
    await numberOfCurrent.waitFor()
    const first = content.content.split('\n').findIndex(isMarked)
    expect(await numberOfCurrent.innerText()).toBe(String(first + 1))
    await lines.locator('[data-current="true"] mark').first().waitFor()
    await page.getByRole('button', { name: 'Next' }).press('Enter')
    await lines.locator('[data-current="true"] mark').first().waitFor()
    const marked = content.content.split('\n').filter(isMarked).length
    await page.getByText(`2 of ${marked} lines with a term`).waitFor()
    // Once by this test, once by the page.
    await page.getByText(`Recalled ${entry.accessCount + 2} times`).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })

  test('nearly four megabytes of one line are virtual, and hostile contents stay text in a narrow window', async () => {
    const { page, faults, close } = await open({ viewport: { width: 360, height: 740 } })
    const search = { place: 'archive', query: 'result', thread: JSON.stringify(HOSTILE_NAME) }
    await show(page, `?${new URLSearchParams(search)}`)
    await hits(page, 'Archived contents found').first().waitFor()
    expect(await page.locator(':is(.hit, .lines-frame) :is(img, svg, script, iframe)').count()).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    const { items } = await recorded.client.messages.list({ thread: HOSTILE_NAME, limit: 200 })
    const longest = items.find(({ content }) => content.length > 3_000_000)
    const result = { ref: longest?.reference ?? '', thread: JSON.stringify(HOSTILE_NAME), query: 'script' }
    await page.goto(`${recorded.url}/ui/#/result?${new URLSearchParams(result)}`)
    const lines = page.getByRole('region', { name: /^Lines of/ })
    await lines.getByText('document.title').first().waitFor()
    expect(await page.getByText(/^[34],\d{3},\d{3} characters$/).count()).toBe(1)
    expect(await lines.locator('li').count()).toBeLessThan(100)
    expect(await page.locator('.lines-frame :is(a, img, svg, script, iframe)').count()).toBe(0)
    await lines.focus()
    await page.keyboard.press('End')
    await lines.getByText('xxxxx').first().waitFor()
    expect(await page.title()).not.toBe('ran')
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })
})
