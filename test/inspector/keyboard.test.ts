import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { executablePath, launch, openPage } from './open-page.js'
import { type RecordedThread, startRecordedThread, THREAD } from './recorded-thread.js'
import { screens } from './screens.js'

/** More stops than any screen has: a Tab key that never leaves the page is a trap. */
const STOPS_MAX = 600

/**
 * Names everything that a pointer can use: controls, and what scrolls. Those inside closed parts, out of reach of a pointer,
 * are left out, and of a group of radio buttons only the chosen one takes the focus.
 */
const NAME_USABLE = `(() => {
  const scope = [...document.querySelectorAll('dialog[open], [role=dialog]')].at(-1) ?? document
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0
  const controls = 'a[href], button:not([disabled]), input:not([disabled], [type=hidden]), select:not([disabled]), textarea:not([disabled]), summary'
  const all = [...scope.querySelectorAll('*')].filter((element) => {
    if (!isShown(element)) return false
    if (element.matches(controls)) return element.type !== 'radio' || element.checked
    const style = getComputedStyle(element)
    const scrolls = (by, way) => by > 1 && ['auto', 'scroll'].includes(style[way])
    return scrolls(element.scrollWidth - element.clientWidth, 'overflowX') || scrolls(element.scrollHeight - element.clientHeight, 'overflowY')
  })
  all.forEach((element, index) => { element.dataset.usable = String(index) })
  return all.map((element) => element.tagName.toLowerCase() + ' ' + (element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent ?? '').trim().slice(0, 60))
})()`

/**
 * The focus: its number among the usable ones, null outside the page, and whether it can be seen. The button inside a field for
 * a time has the browser's own mark, while the field itself does not match `:focus`.
 */
const READ_FOCUS = `(() => {
  const element = document.activeElement
  if (element === null || element === document.body || element === document.documentElement) return null
  const inner = element.dataset.usable !== undefined ? element : element.querySelector('[data-usable]')
  const style = getComputedStyle(element)
  const isMarked = !element.matches(':focus') || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none'
  const box = element.getBoundingClientRect()
  const isInView = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth
  return { usable: inner?.dataset.usable ?? null, isSeen: isMarked && isInView, name: element.tagName.toLowerCase() + ' ' + (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 60) }
})()`

interface Focus {
  readonly usable: string | null
  readonly isSeen: boolean
  readonly name: string
}

/** Presses a key until the focus leaves the page or is back at its first stop. */
async function walk(page: Page, key: 'Tab' | 'Shift+Tab'): Promise<Focus[]> {
  const stops: Focus[] = []
  while (stops.length < STOPS_MAX) {
    await page.keyboard.press(key)
    const focus = (await page.evaluate(READ_FOCUS)) as Focus | null
    const [first] = stops
    if (focus === null) break
    if (first !== undefined && focus.usable !== null && focus.usable === first.usable) break
    stops.push(focus)
  }
  return stops
}

describe.skipIf(executablePath === null)('by the keyboard alone', () => {
  let recorded: RecordedThread
  let browser: Browser
  beforeAll(async () => {
    recorded = await startRecordedThread()
    await recorded.settled(THREAD)
    browser = await launch()
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await recorded?.close()
  })

  test.each(screens)('everything on $name is reached and seen, and nothing keeps the focus', async ({ show }) => {
    const { page, faults, close } = await openPage(browser, recorded.url, { reducedMotion: 'reduce' })
    await show(page, { url: recorded.url, thread: THREAD })
    const usable = (await page.evaluate(NAME_USABLE)) as string[]
    // From the place where opening the screen left the focus to the end, and back to the beginning.
    const forth = await walk(page, 'Tab')
    const back = await walk(page, 'Shift+Tab')
    expect([forth.length < STOPS_MAX, back.length < STOPS_MAX]).toEqual([true, true])
    const stops = [...forth, ...back]
    expect(stops.filter(({ isSeen }) => !isSeen).map(({ name }) => name)).toEqual([])
    const reached = new Set(stops.map((stop) => stop.usable))
    // A list that holds some of its rows draws them anew: those are known by their names.
    const named = new Set(stops.map(({ name }) => name))
    expect(usable.filter((name, index) => !reached.has(String(index)) && !named.has(name))).toEqual([])
    expect(faults).toEqual([])
    await close()
  })

  test('the first stop leads past the navigation, and a closed window returns the focus to its button', async () => {
    const { page, close } = await openPage(browser, recorded.url, { reducedMotion: 'reduce' })
    await page.goto(`${recorded.url}/ui/#/threads/${THREAD}`)
    const view = page.getByRole('button', { name: 'View Context' }).first()
    await view.waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement?.closest("main") !== null')).toBe(true)
    await view.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Request context' })
    await dialog.waitFor()
    expect(await page.evaluate('document.activeElement?.closest("dialog, [role=dialog]") !== null')).toBe(true)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await view.and(page.locator(':focus')).waitFor()
    await close()
  })
})
