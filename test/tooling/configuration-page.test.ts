import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { configurationPage, pagePath } from './configuration/page.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('docs/configuration.md agrees with the schemas; npm run docs:configuration writes it', async () => {
  expect(await readFile(pagePath, 'utf8')).toBe(configurationPage())
})

test('docs/configuration.md has a line for every variable that the sources read', () => {
  const page = configurationPage()
  const read = new Set<string>()
  const sources = ['packages', 'services'].flatMap((folder) =>
    readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  )
  for (const path of sources) {
    if (!/^\w+\/[\w-]+\/src\/.*(?<!\.test)\.ts$/.test(path)) continue
    const text = readFileSync(`${root}/${path}`, 'utf8')
    for (const [, name = ''] of text.matchAll(/env(?:ironment)?\['([A-Z][A-Z0-9_]+)'\]/g)) read.add(name)
  }
  // Of the system, which Heddle only looks at.
  for (const name of ['PATH', 'TERM']) read.delete(name)
  expect(read.size).toBeGreaterThan(5)
  for (const name of read) expect(page, name).toContain(`\`${name}\``)
})
