import { fileURLToPath } from 'node:url'
import { launch, openPage } from './open-page.js'
import { screens } from './screens.js'

/*
 * Pictures of each screen in both themes, for the documentation: `npm run docs:inspector -- URL THREAD` of a gateway, whose
 * thread has a reply to a context. Names of screens after them limit it to these.
 */

const [url = 'http://127.0.0.1:4680', thread = 'overview', ...names] = process.argv.slice(2)
const wanted = screens.filter(({ name }) => names.length === 0 || names.includes(name))
const folder = new URL('../../docs/inspector/', import.meta.url)
const browser = await launch()
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, faults, close } = await openPage(browser, url, { colorScheme })
    for (const { name, show } of wanted) {
      await show(page, { url, thread })
      await page.screenshot({ path: fileURLToPath(new URL(`${name}-${colorScheme}.png`, folder)) })
    }
    await close()
    if (faults.length > 0) throw new Error(faults.join('\n'))
  }
} finally {
  await browser.close()
}
