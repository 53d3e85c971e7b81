import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { copyFile, readFile, stat } from 'node:fs/promises'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import type { Project } from './project.js'

const TIMEOUT_MS = 60_000

/** The Chromium of the system; null if it is not installed. */
export function findChromium(): string | null {
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path)) ?? null
}

/**
 * Bundles a program with the installed client over HTTP for browsers, and runs it in a real page. The
 * gateway refuses pages of other servers, so page and gateway share one address, as behind a proxy.
 */
export async function runInPage(project: Project, gateway: string, executablePath: string) {
  const source = join(project.folder, 'in-page.ts')
  await copyFile(fileURLToPath(new URL('programs/in-page.ts', import.meta.url)), source)
  const outfile = join(project.folder, 'page.js')
  const { warnings } = await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    absWorkingDir: project.folder,
    logLevel: 'silent',
  })
  if (warnings.length > 0) throw new Error(`the bundle has warnings: ${JSON.stringify(warnings)}`)
  const site = await startSite(gateway, await readFile(outfile, 'utf8'))
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage()
    await page.goto(site.url)
    await page.waitForFunction('document.title.startsWith("{")', undefined, { timeout: TIMEOUT_MS })
    const shown = await page.title()
    if (!shown.includes('From a page.') || !shown.includes('"refusedByType":true'))
      throw new Error(`the page: ${shown}`)
    return { chromium: browser.version(), bundleBytes: (await stat(outfile)).size }
  } finally {
    await browser.close()
    await site.close()
  }
}

async function startSite(gateway: string, script: string) {
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === '/' || incoming.url === '/page.js') {
      outgoing.setHeader('content-type', incoming.url === '/' ? 'text/html' : 'text/javascript')
      outgoing.end(incoming.url === '/' ? '<!doctype html><script type="module" src="/page.js"></script>' : script)
      return
    }
    const { method = 'GET', headers } = incoming
    const onward = forward(new URL(incoming.url ?? '/', gateway), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.once('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
