import type { Browser, Page } from 'playwright-core'
import { launch, openPage } from '../open-page.js'
import { loopDelayMs } from './loop-delay.js'
import { rendererMegabytes } from './memory.js'
import { RECORDER } from './recorder.js'
import { scroll } from './scroll.js'

export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: 'ms' | 'MB'
  readonly target: string
  readonly pass: boolean
}

interface Shown {
  readonly url: string
  readonly thread: string
  readonly context: string
}

const OPENED_TIMES = 5
const MAX = { paintMs: 1_500, blankMs: 100, megabytes: 300, loopMs: 50 }

/** Opens each screen several times in an empty browser, then scrolls through it. */
export async function measurePages(shown: Shown, print: (figure: Figure) => void): Promise<void> {
  const { url, thread, context } = shown
  const address = `${url}/ui/#/threads/${encodeURIComponent(thread)}`
  const screens = [
    { name: 'timeline', path: address, row: '.message' },
    { name: 'context', path: `${address}/contexts/${context}`, row: '.piece' },
  ]
  const browser = await launch()
  try {
    for (const screen of screens) await measureScreen(browser, screen, { url, print })
  } finally {
    await browser.close()
  }
}

interface Screen {
  readonly name: string
  readonly path: string
  /** Selects a row of its list. */
  readonly row: string
}

async function measureScreen(
  browser: Browser,
  { name, path, row }: Screen,
  { url, print }: { readonly url: string; readonly print: (figure: Figure) => void },
): Promise<void> {
  const at = (figure: string, value: number, unit: Figure['unit'], max: number) =>
    print({
      name: `inspector.${name}.${figure}`,
      value: Math.round(10 * value) / 10,
      unit,
      target: `<= ${max}`,
      pass: value <= max,
    })
  await loopDelayMs(url)
  const paints: number[] = []
  for (let time = 1; time < OPENED_TIMES; time++) {
    const { page, close } = await open(browser, url, row)
    paints.push(await firstRowMs(page, path))
    await close()
  }
  const { page, faults, close } = await open(browser, url, row)
  paints.push(await firstRowMs(page, path))
  paints.sort((one, other) => one - other)
  at('paint.p50', paints[Math.floor(paints.length / 2)] ?? 0, 'ms', MAX.paintMs)
  at('paint.worst', paints.at(-1) ?? 0, 'ms', MAX.paintMs)
  const { longestFrameMs, longestBlankMs } = await scroll(page)
  at('scroll.frame', longestFrameMs, 'ms', MAX.blankMs)
  at('scroll.blank', longestBlankMs, 'ms', MAX.blankMs)
  at('memory', await rendererMegabytes(browser, page), 'MB', MAX.megabytes)
  at('loop.p99', await loopDelayMs(url), 'ms', MAX.loopMs)
  await close()
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

async function open(browser: Browser, url: string, row: string) {
  const opened = await openPage(browser, url)
  await opened.page.addInitScript({ content: `${RECORDER}; recorder.rowSelector = '${row}'` })
  return opened
}

async function firstRowMs(page: Page, path: string): Promise<number> {
  await page.goto(path)
  return (await page.evaluate('recorder.firstRow')) as number
}
