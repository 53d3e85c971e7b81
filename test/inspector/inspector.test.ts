import { readdir, readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { siteFolder } from '@heddle/inspector'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFaults, executablePath, launch, openPage } from './open-page.js'
import { type RecordedThread, startRecordedThread, THREAD } from './recorded-thread.js'
import { screens } from './screens.js'

const COMPRESSED_BYTES_MAX = 350 * 1024

test('all files together are at most 350 kB compressed', async () => {
  const names = (await readdir(siteFolder, { recursive: true })).filter((name) => /\.\w+$/.test(name))
  const files = await Promise.all(names.map((name) => readFile(new URL(name, siteFolder))))
  const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0)
  expect(names.length).toBeGreaterThanOrEqual(4)
  expect(bytes).toBeLessThanOrEqual(COMPRESSED_BYTES_MAX)
})

describe.skipIf(executablePath === null)('in Chromium, before `heddle up` with a recorded session', () => {
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
  const open = (options = {}) => openPage(browser, recorded.url, { reducedMotion: 'reduce', ...options })
  const shown = () => ({ url: recorded.url, thread: THREAD })

  for (const colorScheme of ['light', 'dark'] as const) {
    test.each(screens)(`$name is accessible and without faults, ${colorScheme}`, async ({ show }) => {
      const { page, faults, close } = await open({ colorScheme })
      await show(page, shown())
      expect(await accessibilityFaults(page)).toEqual([])
      expect(faults).toEqual([])
      await close()
    })
  }

  test('screens fit a narrow window without scrolling sideways', async () => {
    const { page, faults, close } = await open({ viewport: { width: 360, height: 740 } })
    for (const { name, show } of screens) {
      await show(page, shown())
      const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect([name, excess]).toEqual([name, 0])
    }
    expect(faults).toEqual([])
    await close()
  })

  test('threads are found by name and title, and the address keeps the search', async () => {
    const { page, close } = await open()
    await page.goto(`${recorded.url}/ui/`)
    await page.getByRole('link', { name: 'hostile' }).waitFor()
    await page.getByLabel('Name or title').fill('OVERVIEW of')
    await page.getByText('1 thread', { exact: true }).waitFor()
    expect(page.url()).toContain('search=OVERVIEW')
    await page.reload()
    await page.getByText('1 thread', { exact: true }).waitFor()
    await page.getByLabel('Name or title').fill('no such thread')
    await page.getByRole('heading', { name: 'No thread fits' }).waitFor()
    await close()
  })

  test('a new thread and its messages are shown without a reload', async () => {
    const { page, close } = await open()
    await page.goto(`${recorded.url}/ui/`)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('link', { name: THREAD }).waitFor()
    const append = (content: string) =>
      recorded.client.messages.append({ agent: 'coder', thread: 'just-now', messages: [{ role: 'user', content }] })
    await append('Hello.')
    await page.getByRole('link', { name: 'just-now' }).click()
    await page.getByText('Hello.').waitFor()
    await append('Are you there?')
    await page.getByText('Are you there?').waitFor()
    await close()
  })

  test('a condensed result is opened in place, by the keyboard', async () => {
    const { page, faults, close } = await open()
    await page.goto(`${recorded.url}/ui/#/threads/${THREAD}?order=asc`)
    const recall = page.getByRole('button', { name: /^Show the full text/ }).first()
    await recall.waitFor()
    await recall.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Close the full text' }).waitFor()
    await page.locator('.recalled pre').first().waitFor()
    expect(faults).toEqual([])
    await close()
  })

  test('the request context of a reply shows its items in three columns, and survives a reload', async () => {
    const { page, close } = await open()
    await screens.find(({ name }) => name === 'request-context')?.show(page, shown())
    await page.reload()
    const dialog = page.getByRole('dialog', { name: 'Request context' })
    await dialog.getByText('How to use error-handling here').first().waitFor()
    const column = async (name: string) =>
      (await dialog.getByRole('region', { name, exact: true }).locator('.item > p:first-child').allInnerTexts()).map(
        (text) => text.replace(/\s+/g, ' ').trim(),
      )
    expect((await column('Rules')).slice(0, 2)).toEqual([
      '001 • authentication-rules Always',
      '002 • error-handling Manual',
    ])
    expect(await column('References')).toContain('001 • api-documentation Always')
    expect(await column('Tools')).toEqual(['filesystem. • read_file Always'])
    expect((await column('Rules')).join()).toMatch(/003 • tests-of-pruning-rules Agent - 0\.\d\d/)
    // It is only for reading.
    expect(await dialog.getByRole('textbox').count()).toBe(0)
    expect(await dialog.getByRole('button', { name: /add|remove|save|edit/i }).count()).toBe(0)
    const colours = (await page.evaluate(`['always', 'manual', 'agent'].map((mode) =>
      getComputedStyle(document.querySelector('.item .badge[data-mode=' + mode + ']')).color)`)) as string[]
    expect(new Set(colours).size).toBe(3)
    await dialog.getByRole('button', { name: 'api-documentation' }).hover()
    await page.locator('.tooltip', { hasText: 'How to use api-documentation here' }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('.tooltip').waitFor({ state: 'hidden' })
    if (await dialog.isVisible()) await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    // Only the reply that names its context offers it.
    expect(await page.getByRole('button', { name: 'View Context' }).count()).toBe(1)
    await close()
  })

  test('each delivered message is beside its lines of the receipt, and the shared prefix is marked', async () => {
    const { page, close } = await open()
    await screens.find(({ name }) => name === 'context')?.show(page, shown())
    const pieces = page.getByRole('region', { name: 'Messages as delivered' }).getByRole('article')
    const first = await pieces.filter({ hasText: 'Message 1' }).first().innerText()
    expect(first).toMatch(/came with the thread/)
    expect(await page.getByRole('region', { name: 'Receipt', exact: true }).count()).toBe(0)
    expect(await page.getByText('shared prefix').count()).toBeGreaterThan(0)
    await page.getByRole('link', { name: /^← Context before/ }).click()
    await page.getByRole('link', { name: /^Context after/ }).waitFor()
    await close()
  })

  test('a stage is paused and resumed by the keyboard, and a dead letter is sent again', async () => {
    const { page, faults, close } = await open()
    await screens.find(({ name }) => name === 'pipeline')?.show(page, shown())
    await page.getByRole('button', { name: 'Pause embed' }).focus()
    await page.keyboard.press('Enter')
    const resume = page.getByRole('button', { name: 'Resume embed' })
    await resume.waitFor()
    expect((await recorded.client.stages.list()).items.find(({ stage }) => stage === 'embed')?.paused).toBe(true)
    await resume.press('Enter')
    await page.getByRole('button', { name: 'Pause embed' }).waitFor()
    const letters = page.getByRole('region', { name: 'Dead letters' })
    await letters.getByRole('button', { name: /^Show the payload/ }).press('Enter')
    await letters.locator('pre', { hasText: '"threadId"' }).waitFor()
    await letters.getByRole('button', { name: 'Send it again' }).press('Enter')
    await letters.getByText('No job of this project failed permanently.').waitFor()
    expect(await page.title()).toBe('Pipeline · Heddle')
    expect(faults).toEqual([])
    await close()
  })

  test('settings of an agent are changed, and a change that came first is not overwritten', async () => {
    const { page, faults, close } = await open()
    await screens.find(({ name }) => name === 'agent-settings')?.show(page, shown())
    const row = page.getByRole('row', { name: /^budget / })
    expect(await row.innerText()).toMatch(/16000\s+agent/)
    await page.getByLabel('Only what differs from the defaults').check()
    await page.getByRole('rowheader', { name: 'strategy' }).waitFor({ state: 'hidden' })
    const form = page.getByRole('form', { name: 'Settings of the agent' })
    await form.getByRole('textbox').fill('{ "budget": 15000, "rollingWindow": null }')
    await form.getByRole('button', { name: 'Save as a new version' }).press('Enter')
    await page.getByRole('cell', { name: '15000' }).waitFor()
    await form.getByRole('textbox').fill('{ "budget": "much" }')
    await form.getByRole('button').press('Enter')
    await form.getByText('settings.budget').waitFor()
    expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([])
    await recorded.client.agents.put('coder', { settings: { budget: 16_000, rollingWindow: null } })
    await form.getByRole('textbox').fill('{ "budget": 14000 }')
    await form.getByRole('button').press('Enter')
    await form.getByRole('heading', { name: 'CONFLICT' }).waitFor()
    expect((await recorded.client.agents.get('coder')).settings.budget).toBe(16_000)
    await close()
  })

  test('a window is saved, looked into, cleared, and restored', async () => {
    const agent = 'forgetful'
    const messages = [{ role: 'user' as const, content: 'The port is 5433.' }]
    await recorded.client.messages.append({ agent, thread: 'ports', messages, newAgentRollingWindow: null })
    const { page, faults, close } = await open()
    await page.goto(`${recorded.url}/ui/#/agents/${agent}?view=snapshots`)
    await page.getByRole('button', { name: 'Save the window now' }).press('Enter')
    await page.getByText('Saved with 1 message').waitFor()
    await page.getByRole('button', { name: 'Clear its windows …' }).press('Enter')
    await page.getByRole('button', { name: 'Clear the windows now' }).press('Enter')
    await page.getByText('1 thread with messages hidden by the clear').waitFor()
    await page.getByRole('button', { name: /^Look into it/ }).press('Enter')
    await page.reload()
    await page.locator('.message pre', { hasText: 'The port is 5433.' }).waitFor()
    await page.getByRole('button', { name: 'Restore 1 message' }).press('Enter')
    await page.getByText('1 restored, 0 were shown already, 0 were erased since').waitFor()
    expect(faults).toEqual([])
    await close()
  })

  test('contents of messages neither run nor load nor link, and four megabytes of one line are folded', async () => {
    const { page, faults, close } = await open()
    await page.goto(`${recorded.url}/ui/#/threads/hostile`)
    await page.getByText('<script>document.title').waitFor()
    expect(await page.title()).toBe('hostile · Heddle')
    expect(await page.locator('.message :is(img, svg, script, iframe)').count()).toBe(0)
    // The only links are those of the inspector itself.
    const links = await Promise.all((await page.locator('.message a').all()).map((link) => link.getAttribute('href')))
    expect(links).toEqual([2, 1].map((seq) => `/ui/#/threads/hostile/find?message=${seq}`))
    const text = await page.locator('.message pre').last().innerText()
    expect(text).toContain('\\u202ereversed\\u202c \\u001b[31mred')
    const long = page.getByRole('button', { name: /^Show more of/ }).first()
    await long.click()
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    expect(faults).toEqual([])
    await close()
  })

  test('with keys, a page signs in and out, and a key that may not read learns which one may', async () => {
    const create = async (role: string) => {
      const { document } = await recorded.home.heddle('keys', 'create', '--name', role, '--role', role, '--json')
      return document.key as string
    }
    const [reader, producer] = [await create('read'), await create('produce')]
    const { page, close } = await open()
    await page.goto(`${recorded.url}/ui/`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor({ timeout: 20_000 })
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByLabel('Key').fill('hdl_unknown')
    await page.keyboard.press('Enter')
    await page.getByText('this key is unknown or was revoked').waitFor()
    await page.getByLabel('Key').fill(reader)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: THREAD }).waitFor()
    expect(await page.evaluate('document.cookie')).toBe('')
    await page.reload()
    await page.getByRole('link', { name: THREAD }).waitFor()
    await page.getByRole('link', { name: 'Pipeline' }).click()
    await page.getByRole('rowheader', { name: 'embed' }).waitFor()
    expect(await page.getByRole('button', { name: /Pause|again|Check/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Key').fill(producer)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'This key may not read' }).waitFor()
    await close()
  })
})
