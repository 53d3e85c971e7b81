import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { strategyNames } from '@heddle/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { loadStrategyModules } from './strategy-modules.js'

/** A folder with some files, removed in the end. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const dir = mkdtempSync(join(tmpdir(), 'heddle-strategies-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  return dir
}

const registering = (name: string) =>
  `export default ({ defineStrategy, registerStrategy }) => registerStrategy('${name}', () => defineStrategy({ name: '${name}' }))`

test('a module by path and one by package name register their strategies, once even if named repeatedly', async () => {
  const dir = folderWith({
    'own.mjs': registering('from-a-path'),
    'node_modules/@acme/strategies/package.json': '{"name": "@acme/strategies", "type": "module", "main": "index.js"}',
    'node_modules/@acme/strategies/index.js': registering('from-a-package'),
  })
  await loadStrategyModules(['./own.mjs', '@acme/strategies', './own.mjs'], dir)
  await loadStrategyModules([join(dir, 'own.mjs')], dir)
  expect(strategyNames()).toEqual(expect.arrayContaining(['from-a-path', 'from-a-package']))
})

test.each([
  ['is missing', './nowhere.mjs', 'cannot be loaded: Cannot find module'],
  ['is a package that is not installed', '@acme/nowhere', 'cannot be loaded: '],
  ['does not run', './throws.mjs', 'cannot be loaded: no such luck'],
  ['exports no function', './plain.mjs', 'must have a function as its default export'],
  ['fails while it registers', './fails.mjs', 'failed while it registered its strategies: not today'],
  ['uses a name that is registered already', './taken.mjs', 'must be a name that is not taken'],
  ['registers nothing', './nothing.mjs', 'did not register a strategy'],
])('a module that %s is refused by its name', async (_, module, rule) => {
  const dir = folderWith({
    'throws.mjs': "throw new Error('no such luck')",
    'plain.mjs': 'export const strategy = 1',
    'fails.mjs': "export default () => { throw new Error('not today') }",
    'taken.mjs': registering('sandwich'),
    'nothing.mjs': 'export default () => undefined',
  })
  await expect(loadStrategyModules([module], dir)).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    field: 'strategyModules',
    received: module,
    message: expect.stringContaining(rule),
  })
})
