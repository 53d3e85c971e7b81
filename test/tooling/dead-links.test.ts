import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { deadLinks } from '../../docs/.vitepress/dead-links.js'
import { resolveLink } from '../../docs/.vitepress/pages.js'

async function siteOf(pages: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-site-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(pages)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

test('the check of a built site finds links to missing pages, files and anchors', async () => {
  const folder = await siteOf({
    'index.html': `<a class="x" href="/base/guide.html#found">1</a> <a href="/base/guide.html#lost">2</a> <a href="/base/none.html">3</a>
      <a href="/base/">4</a> <a href="https://example.com/none">5</a> <a href="#own">6</a> <h2 id="own">own</h2>`,
    'guide.html':
      '<h2 id="found">found</h2> <a href="./in/page.html">1</a> <a href="#gone">2</a> <a href="/base/a.svg">3</a>',
    'in/page.html': '<a href="../guide.html#found">1</a> <a href="../a.png">2</a>',
    'a.svg': '',
  })
  expect(deadLinks(folder, '/base/').toSorted()).toEqual([
    'guide.html: #gone',
    'in/page.html: ../a.png',
    'index.html: /base/guide.html#lost',
    'index.html: /base/none.html',
  ])
})

test('links between files become addresses of the site, and links to missing files are refused', () => {
  expect(resolveLink('README.md', 'docs/design.md#words')).toBe('/design.md#words')
  expect(resolveLink('docs/design.md', 'decisions/README.md')).toBe('/decisions/index.md')
  expect(resolveLink('docs/operations.md', '../infra/README.md')).toBe('/infra/index.md')
  expect(resolveLink('services/gateway/README.md', '../../packages/client')).toBe('/packages/client/index.md')
  expect(resolveLink('docs/strategies.md', 'examples/own-strategy.ts')).toBe('/source/docs/examples/own-strategy.ts.md')
  expect(() => resolveLink('README.md', 'docs/none.md')).toThrow(
    'README.md links to docs/none.md: docs/none.md is neither a file',
  )
  expect(() => resolveLink('README.md', 'packages')).toThrow('nor a folder with a README.md')
})
