import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

const page = readFileSync(join(root, 'docs/memory.md'), 'utf8')
const named = new Set([...page.matchAll(/`([\w.]+)`/g)].map(([, name]) => name))

describe('the page of what is kept where', () => {
  test('names every table', () => {
    const folder = join(root, 'packages/store/src/schema')
    const sources = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
    const tables = sources.flatMap((source) =>
      [...source.matchAll(/heddle\.table\(\s*'(\w+)'/g)].map(([, name]) => name),
    )
    expect(tables.length).toBeGreaterThan(50)
    expect(tables.filter((table) => !named.has(table))).toEqual([])
  })

  test('names every setting of a retention', () => {
    const erasure = readFileSync(join(root, 'docs/configuration.md'), 'utf8')
    const settings = [...erasure.matchAll(/`retention\.(\w+)`/g)].map(([, name]) => name)
    expect(settings.length).toBeGreaterThan(9)
    expect(settings.filter((setting) => !named.has(setting))).toEqual([])
  })
})
