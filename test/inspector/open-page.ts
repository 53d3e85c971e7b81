import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { findChromium } from '../install/page.js'

/** Null without a Chromium: the tests are left out and named. */
export const executablePath = findChromium()

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.error('policy: ' + violatedDirective + ' ' + blockedURI))`

export async function launch(): Promise<Browser> {
  return await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox'] })
}

export interface WatchedPage {
  readonly page: Page
  /** Errors of the console, violations of the content policy, uncaught errors, and requests to other hosts. */
  readonly faults: string[]
  close(): Promise<void>
}

/** A page that records everything that must not happen. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, locale: 'en-GB', ...options })
  context.setDefaultTimeout(15_000)
  const page = await context.newPage()
  const faults: string[] = []
  const { host } = new URL(url)
  page.on('console', (message) => {
    // A login begins with the refusal of a page without a key.
    const isLogin = message.location().url.endsWith('/v1/session')
    if (message.type() === 'error' && !isLogin) faults.push(`console: ${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`))
  page.on('request', (request) => {
    if (new URL(request.url()).host !== host) faults.push(`request: ${request.url()}`)
  })
  // As text, because the types of this repository are those of Node.
  await page.addInitScript({ content: REPORT_VIOLATIONS })
  return { page, faults, close: () => context.close() }
}

/** The violations that axe-core finds on the screen, in words. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // The tooling of the test is not subject to the policy of the page.
  return (await page.evaluate(`${axe}; axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 160) + ' ' + failureSummary)))`)) as string[]
}
