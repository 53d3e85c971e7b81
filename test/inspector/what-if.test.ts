import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { executablePath, launch, openPage } from './open-page.js'
import { AGENT, type RecordedThread, startRecordedThread, THREAD } from './recorded-thread.js'

describe.skipIf(executablePath === null)('what if', () => {
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

  test('another budget, strategy and format are built by the keyboard alone, and nothing is stored', async () => {
    const { page, faults, close } = await openPage(browser, recorded.url, { reducedMotion: 'reduce' })
    const { items: before } = await recorded.client.contexts.list({ thread: THREAD })
    const id = before[0]?.id ?? ''
    await page.goto(`${recorded.url}/ui/#/threads/${THREAD}/contexts/${id}?view=what-if`)
    await page.getByLabel('Budget in tokens').fill('5000')
    await page.getByLabel('Strategy').selectOption('sliding-window')
    await page.getByLabel('Format').selectOption('openai-chat')
    await page.getByLabel('Budget in tokens').press('Enter')
    const side = (name: string) => page.getByRole('region', { name, exact: true })
    await side('Preview').getByText('of 5,000 tokens').waitFor()
    const request = { thread: THREAD, budget: 5_000, strategy: 'sliding-window', format: 'openai-chat' } as const
    const expected = await recorded.client.contexts.build({ ...request, store: false })
    const text = await side('Preview').innerText()
    expect(text).toContain(`${expected.tokensUsed.toLocaleString('en')} of 5,000 tokens`)
    expect(text).toContain(`${expected.messages.length} messages`)
    const delivered = await recorded.client.contexts.get(id)
    expect(await side('As delivered').innerText()).toContain(delivered.tokensUsed.toLocaleString('en'))
    const { items: after } = await recorded.client.contexts.list({ thread: THREAD })
    expect(after.map((context) => context.id)).toEqual(before.map((context) => context.id))
    expect(faults).toEqual([])
    await close()
  })

  test('a budget that is too small is refused as the interface names it', async () => {
    const { page, close } = await openPage(browser, recorded.url)
    const { items } = await recorded.client.contexts.list({ thread: THREAD })
    await page.goto(`${recorded.url}/ui/#/threads/${THREAD}/contexts/${items[0]?.id}?view=what-if`)
    await page.getByLabel('Budget in tokens').fill('1')
    await page.getByRole('button', { name: 'Build without storing' }).press('Enter')
    await page.getByRole('alert').getByRole('heading', { name: 'BUDGET_TOO_SMALL' }).waitFor()
    await close()
  })

  test("the provider's count of a context is beside Heddle's, from the reply that names it", async () => {
    const { page, faults, close } = await openPage(browser, recorded.url)
    const context = await recorded.client.contexts.build({ thread: THREAD, budget: 9_000, format: 'anthropic' })
    const usage = { input_tokens: context.tokensUsed - 1_000, cache_read_input_tokens: 1_100, output_tokens: 40 }
    const reply = { role: 'assistant', content: 'Beside them.', model: 'claude-sonnet-4-5', usage } as const
    await recorded.client.messages.append({ agent: AGENT, thread: THREAD, contextId: context.id, messages: [reply] })
    await page.goto(`${recorded.url}/ui/#/threads/${THREAD}/contexts/${context.id}`)
    const figure = (value: number) => value.toLocaleString('en')
    const ratio = ((context.tokensUsed + 100) / context.tokensUsed).toFixed(2)
    await page
      .getByText(
        `The provider counted ${figure(context.tokensUsed + 100)} tokens (claude-sonnet-4-5), ${ratio} times the ${figure(context.tokensUsed)} counted here by o200k.`,
      )
      .waitFor()
    expect(faults).toEqual([])
    await close()
  })
})
