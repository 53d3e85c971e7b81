import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { executablePath, launch, openPage } from './open-page.js'
import { AGENT, type RecordedThread, startRecordedThread } from './recorded-thread.js'

const THREAD = 'ports'

describe.skipIf(executablePath === null)('a statement that the model did not see', () => {
  let recorded: RecordedThread
  let browser: Browser
  let context = ''
  beforeAll(async () => {
    recorded = await startRecordedThread()
    const { client } = recorded
    await client.threads.put(THREAD, { agent: AGENT, settings: { budget: 4_000 } })
    const others = Array.from({ length: 60 }, (_, turn) => ({
      role: turn % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content:
        turn === 20 ? 'The database of the tests listens on 5433.' : `Step ${turn}: ${'go on with it. '.repeat(30)}`,
    }))
    await client.messages.append({ agent: AGENT, thread: THREAD, messages: others })
    await recorded.settled(THREAD)
    context = (await client.contexts.build({ thread: THREAD, budget: 2_000 })).id
    browser = await launch()
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await recorded?.close()
  })

  test('is found with what became of it, and pinned into the contexts that follow', async () => {
    const { page, faults, close } = await openPage(browser, recorded.url, { reducedMotion: 'reduce' })
    await page.goto(`${recorded.url}/ui/#/threads/${THREAD}/contexts/${context}?view=find`)
    await page.getByLabel('Words of a statement').fill('database 5433')
    await page.keyboard.press('Enter')
    const found = page.getByRole('list', { name: 'Messages of the thread' }).getByRole('article').first()
    await found.waitFor()
    expect(await found.innerText()).toMatch(/covered[\s\S]*5433[\s\S]*a summary of #\d+ to #\d+ stands for it/)
    await found.getByRole('button', { name: /^Bring it back/ }).press('Enter')
    await found.getByText('Pinned: the next context shows it verbatim.').waitFor()
    const next = await recorded.client.contexts.build({ thread: THREAD, budget: 2_000 })
    expect(JSON.stringify(next.messages)).toContain('5433')
    await page.goto(`${recorded.url}/ui/#/threads/${THREAD}/contexts/${next.id}?view=find&query=database+5433`)
    await page.getByText('It is in this context, verbatim.').first().waitFor()
    expect(faults).toEqual([])
    await close()
  })

  test('is not searched for without words, and the address of another view keeps none', async () => {
    const { page, close } = await openPage(browser, recorded.url)
    await page.goto(`${recorded.url}/ui/#/threads/${THREAD}/contexts/${context}?view=find`)
    await page.getByRole('heading', { name: 'Did the model see it?' }).waitFor()
    expect(
      await page.getByRole('navigation', { name: 'Views of the context' }).locator('[aria-current]').allInnerTexts(),
    ).toEqual(['Did it see this?'])
    await close()
  })

  test('of a paused stage, the list of threads says so and leads to it', async () => {
    const { page, close } = await openPage(browser, recorded.url)
    await recorded.client.stages.pause('embed')
    const messages = [{ role: 'user' as const, content: 'Is this found?' }]
    await recorded.client.messages.append({ agent: AGENT, thread: 'not-embedded', messages })
    await page.goto(`${recorded.url}/ui/#/threads?search=not-embedded`)
    await page.getByRole('link', { name: 'paused' }).press('Enter')
    const standing = page.getByRole('region', { name: 'embed makes no progress' })
    await standing.getByText('embed is paused.').waitFor()
    await standing
      .getByText(/^Since .+ it has not reached 1 message of 1 thread, the first of them in not-embedded/)
      .waitFor()
    await standing.getByRole('button', { name: 'Resume it' }).press('Enter')
    await standing.waitFor({ state: 'hidden' })
    await close()
  })
})
