import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOSTILE } from './hostile-text.js'
import { HOSTILE_TOOL } from './hostile-thread.js'
import { executablePath, launch, openPage } from './open-page.js'
import { AGENT, type RecordedThread, startRecordedThread } from './recorded-thread.js'

const LONG = 'long'
const MESSAGES = 3_000
const LARGEST = 1_234

/** Messages with their number; one of them is the large result of a tool. */
async function fill({ client }: RecordedThread): Promise<void> {
  for (let first = 1; first <= MESSAGES; first += 500) {
    const messages = Array.from({ length: 500 }, (_, index) => messageAt(first + index))
    await client.messages.append({ agent: AGENT, thread: LONG, messages })
  }
}

function messageAt(number: number) {
  const id = `call-${LARGEST}`
  if (number === LARGEST - 1)
    return { role: 'assistant' as const, content: '', toolCalls: [{ id, name: HOSTILE_TOOL, arguments: {} }] }
  if (number === LARGEST)
    return {
      role: 'tool_result' as const,
      toolCallId: id,
      toolName: HOSTILE_TOOL,
      content: `${HOSTILE} ${'x'.repeat(400)}`,
    }
  return { role: 'user' as const, content: `This is message ${number}.` }
}

const topOf = async (page: Page, text: string) => (await page.getByText(text, { exact: true }).boundingBox())?.y

describe.skipIf(executablePath === null)('a thread of thousands of messages', () => {
  let recorded: RecordedThread
  let browser: Browser
  beforeAll(async () => {
    recorded = await startRecordedThread()
    await fill(recorded)
    browser = await launch()
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await recorded?.close()
  })
  const open = () => openPage(browser, recorded.url, { reducedMotion: 'reduce' })

  test('is moved through by number, and keeps its place while messages are loaded before it', async () => {
    const { page, faults, close } = await open()
    await page.goto(`${recorded.url}/ui/#/threads/${LONG}`)
    await page.getByText(`This is message ${MESSAGES}.`).waitFor()
    await page.getByLabel('Message #').fill('1500')
    await page.getByText('This is message 1500.', { exact: true }).waitFor()
    await expect.poll(() => page.url()).toContain('at=1500')
    // Those before it come by themselves, and nothing moves.
    await page.getByText('Messages #1,301 to #1,700').waitFor()
    const first = page.getByRole('listitem').filter({ hasText: 'This is message 1500.' })
    expect(await first.getAttribute('aria-current')).toBe('true')
    const before = await topOf(page, 'This is message 1500.')
    const frame = await page.getByRole('region', { name: 'Timeline' }).boundingBox()
    expect(Math.abs((before ?? 0) - (frame?.y ?? 0))).toBeLessThan(120)
    await page.goto(`${recorded.url}/ui/#/threads/${LONG}?at=${MESSAGES}`)
    await page.getByText(`This is message ${MESSAGES}.`, { exact: true }).waitFor()
    await page.getByRole('slider', { name: 'Moment' }).press('Home')
    await page.getByText('This is message 1.', { exact: true }).waitFor()
    expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([])
    await close()
  })

  test('is scrolled to its end with the keys, and only some pages of it stay loaded', async () => {
    const { page, faults, close } = await open()
    await page.goto(`${recorded.url}/ui/#/threads/${LONG}?order=asc`)
    const list = page.getByRole('region', { name: 'Timeline' })
    await page.getByText('This is message 1.', { exact: true }).waitFor()
    await list.focus()
    await expect
      .poll(
        async () => {
          await page.keyboard.press('End')
          return await page.getByText(`This is message ${MESSAGES}.`, { exact: true }).count()
        },
        { timeout: 30_000 },
      )
      .toBe(1)
    await page.getByText('Messages #1,401 to #3,000').waitFor()
    await expect
      .poll(
        async () => {
          await page.keyboard.press('Home')
          return await page.getByText('This is message 1.', { exact: true }).count()
        },
        { timeout: 30_000 },
      )
      .toBe(1)
    await page.getByText('Messages #1 to #1,600').waitFor()
    expect(faults).toEqual([])
    await close()
  })

  test('its largest tool result is found, and leads to its place in the timeline', async () => {
    const { page, faults, close } = await open()
    await page.goto(`${recorded.url}/ui/#/threads/${LONG}/tools`)
    const table = page.getByRole('region', { name: 'Tools, the most tokens first' })
    await table.getByRole('link').press('Enter')
    await page.getByRole('heading', { name: /^Largest results of/ }).waitFor()
    const largest = page.getByRole('list', { name: 'Largest messages' }).getByRole('article')
    await expect.poll(() => largest.count()).toBe(1)
    expect(await largest.locator(':is(img, svg, script, iframe)').count()).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    await largest.getByRole('link', { name: /^In the timeline/ }).press('Enter')
    await expect.poll(() => page.url()).toContain(`at=${LARGEST}`)
    await page.getByRole('listitem').and(page.locator('[aria-current]')).getByText(`#${LARGEST}`).first().waitFor()
    expect(await page.title()).toBe(`${LONG} · Heddle`)
    expect(faults).toEqual([])
    await close()
  })
})
