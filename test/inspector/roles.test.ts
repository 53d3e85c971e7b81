import { type AccessRole, permissionsFor } from '@heddle/contracts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { executablePath, launch, openPage } from './open-page.js'
import { type RecordedThread, startRecordedThread, THREAD } from './recorded-thread.js'

type Needed = 'produce' | 'admin' | 'operate'

/** The buttons of each screen that change something, with the permission that each needs. */
const screens: readonly {
  readonly path: string
  readonly shown: string | RegExp
  readonly buttons: Readonly<Record<string, Needed>>
}[] = [
  { path: 'threads', shown: THREAD, buttons: {} },
  { path: `threads/${THREAD}`, shown: 'View Context', buttons: {} },
  { path: `threads/${THREAD}/contexts`, shown: 'built', buttons: {} },
  {
    path: `threads/${THREAD}/compactions`,
    shown: /^Whole summary/,
    buttons: { Undo: 'produce', Redo: 'produce' },
  },
  { path: `threads/${THREAD}/tools`, shown: 'Largest messages', buttons: {} },
  {
    path: `threads/${THREAD}/contexts/:context?view=find&query=pruning`,
    shown: 'a summary stands for it',
    buttons: { 'Bring it back': 'produce' },
  },
  { path: 'search?query=pruning', shown: 'Explanation of its place', buttons: {} },
  { path: 'agents', shown: 'coder', buttons: {} },
  { path: 'agents/coder', shown: 'System prompt', buttons: { 'Clear its windows …': 'produce' } },
  {
    path: 'agents/coder?view=settings',
    shown: 'rollingWindow',
    buttons: { 'Clear its windows …': 'produce', 'Save as a new version': 'admin' },
  },
  { path: 'agents/coder?view=items', shown: /^Figures over/, buttons: { 'Clear its windows …': 'produce' } },
  {
    path: 'agents/coder?view=snapshots',
    shown: 'Look into it',
    buttons: {
      'Clear its windows …': 'produce',
      'Save the window now': 'produce',
      'Restore its messages': 'produce',
    },
  },
  {
    path: 'pipeline',
    shown: 'embed',
    buttons: {
      'Pause a stage': 'operate',
      'Check again': 'operate',
      'Send dead letters again': 'admin',
      'Send it again': 'admin',
    },
  },
]

/** Buttons whose names contain figures, or that repeat in rows, by one name. */
const names: readonly (readonly [RegExp, string])[] = [
  [/^Pause /, 'Pause a stage'],
  [/^Send \d+ jobs? again$/, 'Send dead letters again'],
  [/^Restore \d+ messages?$/, 'Restore its messages'],
  [/^Bring it back/, 'Bring it back'],
  [/^Undo/, 'Undo'],
  [/^Redo/, 'Redo'],
]

/** Buttons that only show, copy, filter or sign out. */
const HARMLESS =
  /^(Show|Fold|Close|Look into it|Copy|Switch project|View Context|Sign out|Skip|Search|Whole summary|Summary of|Newest|Oldest|Open|More|Load more|Find|Messages of|Preview the next)/

describe.skipIf(executablePath === null)('each button of each screen', () => {
  let recorded: RecordedThread
  let browser: Browser
  const keys = new Map<AccessRole, string>()
  let context = ''
  beforeAll(async () => {
    recorded = await startRecordedThread()
    await recorded.client.snapshots.save({ agent: 'coder' })
    context = (await recorded.client.contexts.list({ thread: THREAD })).items[0]?.id ?? ''
    for (const role of ['read', 'agent', 'admin'] as const) {
      const created = await recorded.home.heddle('keys', 'create', '--name', role, '--role', role, '--json')
      keys.set(role, created.document.key)
    }
    // The gateway reads anew every few seconds whether keys exist; until then a page without one stays open.
    const refused = async () => expect((await fetch(`${recorded.url}/v1/threads`)).status).toBe(401)
    await vi.waitFor(refused, { timeout: 30_000, interval: 200 })
    browser = await launch()
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await recorded?.close()
  })

  test.each(['read', 'agent', 'admin'] as const)('is shown to a key of the role %s if it may use it', async (role) => {
    const { page, faults, close } = await openPage(browser, recorded.url, { reducedMotion: 'reduce' })
    await page.goto(`${recorded.url}/ui/`)
    await page.getByLabel('Key').fill(keys.get(role) ?? '')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: THREAD }).waitFor()
    const may = permissionsFor({ role, isOperators: true })
    for (const { path, shown, buttons } of screens) {
      await page.goto(`${recorded.url}/ui/#/${path.replace(':context', context)}`)
      await page.getByText(shown).first().waitFor()
      if (path.endsWith('snapshots')) {
        await page
          .getByRole('button', { name: /^Look into it/ })
          .first()
          .click()
        await page.locator('.message').first().waitFor()
      }
      const expected = Object.entries(buttons).flatMap(([name, needs]) => (may.includes(needs) ? [name] : []))
      await expect.poll(() => changing(page)).toEqual(expected.sort())
    }
    expect(faults).toEqual([])
    await close()
  })
})

async function changing(page: Page): Promise<string[]> {
  const texts = await page.getByRole('button').allInnerTexts()
  const found = texts
    .map((text) => text.replace(/\s+/g, ' ').trim())
    .filter((text) => text !== '' && !HARMLESS.test(text))
    .map((text) => names.find(([pattern]) => pattern.test(text))?.[1] ?? text)
  return [...new Set(found)].sort()
}
