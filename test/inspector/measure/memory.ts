import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'

interface Process {
  readonly id: number
  readonly type: string
}

/**
 * The memory of the page's process: what it does not share, and its part of what it shares, such as the program of the browser.
 *
 * @returns megabytes of the largest renderer, which is that of the page
 */
export async function rendererMegabytes(browser: Browser, page: Page): Promise<number> {
  // Garbage is not what the page needs.
  const ofPage = await page.context().newCDPSession(page)
  await ofPage.send('HeapProfiler.collectGarbage')
  const ofBrowser = await browser.newBrowserCDPSession()
  const { processInfo } = (await ofBrowser.send('SystemInfo.getProcessInfo')) as { processInfo: Process[] }
  const renderers = processInfo.filter(({ type }) => type === 'renderer')
  const kilobytes = await Promise.all(renderers.map(({ id }) => proportionalKilobytes(id)))
  return Math.max(...kilobytes) / 1_000
}

async function proportionalKilobytes(id: number): Promise<number> {
  const text = await readFile(`/proc/${id}/smaps_rollup`, 'utf8').catch(() => '')
  return 1.024 * Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0)
}
