import { once } from 'node:events'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { executablePath, launch, openPage } from './open-page.js'
import { type RecordedThread, startRecordedThread, THREAD } from './recorded-thread.js'

const PREFIX = '/tools/heddle'

/** A reverse proxy that serves the gateway below a path, and knows nothing else. */
async function startProxy(gateway: string) {
  const strangers: string[] = []
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', headers, url = '/' } = incoming
    if (!url.startsWith(`${PREFIX}/`)) {
      strangers.push(url)
      outgoing.writeHead(404).end()
      return
    }
    const onward = forward(new URL(url.slice(PREFIX.length), gateway), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      // An event stream begins with its headers.
      outgoing.flushHeaders()
      answer.pipe(outgoing)
    })
    onward.once('error', () => outgoing.destroy())
    outgoing.once('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${PREFIX}`,
    strangers,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

describe.skipIf(executablePath === null)('below a path of a reverse proxy', () => {
  let recorded: RecordedThread
  let proxy: Awaited<ReturnType<typeof startProxy>>
  let browser: Browser
  beforeAll(async () => {
    recorded = await startRecordedThread()
    proxy = await startProxy(recorded.url)
    browser = await launch()
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await proxy?.close()
    await recorded?.close()
  })

  test('screens, live events, deep links, sign-in and the project of another key work as without it', async () => {
    const { page, faults, close } = await openPage(browser, proxy.url)
    await page.goto(`${proxy.url}/ui/`)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('link', { name: THREAD }).waitFor()
    const messages = [{ role: 'user' as const, content: 'Hello.' }]
    await recorded.client.messages.append({ agent: 'coder', thread: 'behind-a-proxy', messages })
    await page.getByRole('link', { name: 'behind-a-proxy' }).waitFor()
    await page.goto(`${proxy.url}/ui/#/threads/${THREAD}?order=asc&at=100`)
    await page.reload()
    await page.getByRole('listitem').filter({ hasText: '#100' }).first().waitFor()

    const create = async (...options: string[]) => {
      const { document } = await recorded.home.heddle('keys', 'create', '--role', 'read', '--json', ...options)
      return document.key as string
    }
    const [own, other] = [await create('--name', 'own'), await create('--name', 'other', '--project', 'elsewhere')]
    // The open page asks for a key by itself.
    await page.getByLabel('Key').fill(own, { timeout: 30_000 })
    await page.keyboard.press('Enter')
    await page.getByText('project default as read').waitFor()
    await page.getByRole('button', { name: 'Switch project' }).press('Enter')
    await page.getByLabel('Key').fill('hdl_unknown')
    await page.keyboard.press('Enter')
    await page.getByText('this key is unknown or was revoked').waitFor()
    await page.getByLabel('Key').fill(other)
    await page.keyboard.press('Enter')
    await page.getByText('project elsewhere as read').waitFor()
    await page.getByRole('heading', { name: 'There are no threads yet' }).waitFor()
    const cookies = await page.context().cookies()
    expect(cookies.map(({ path, httpOnly, sameSite }) => [path, httpOnly, sameSite])).toEqual([
      [`${PREFIX}/v1`, true, 'Strict'],
    ])
    expect(proxy.strangers).toEqual([])
    expect(faults.filter((fault) => !fault.includes('status of 401'))).toEqual([])
    await close()
  })
})
