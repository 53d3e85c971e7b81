import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { strategyModulesOf } from './strategy-modules.js'

function folder(yaml?: string): string {
  const path = mkdtempSync(join(tmpdir(), 'heddle-modules-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  if (yaml !== undefined) writeFileSync(join(path, 'heddle.yaml'), yaml)
  return path
}

test('modules are read from the file, relative to its folder, or else from the environment', () => {
  const dir = folder('strategyModules: [./own.mjs, "@acme/strategies"]\nsettings: { strategy: nobody-knows-yet }')
  expect(strategyModulesOf({ env: {}, cwd: dir })).toEqual({
    modules: ['./own.mjs', '@acme/strategies'],
    baseDir: dir,
  })
  const cwd = folder()
  const HEDDLE_CONFIG = join(dir, 'heddle.yaml')
  expect(strategyModulesOf({ env: { HEDDLE_CONFIG }, cwd }).baseDir).toBe(dir)
  const env = { HEDDLE_CONFIG, HEDDLE_STRATEGY_MODULES: './one.mjs, two' }
  expect(strategyModulesOf({ env, cwd })).toEqual({ modules: ['./one.mjs', 'two'], baseDir: cwd })
})

test('the default is an empty list, and a value that is not a list is refused with its place', () => {
  expect(strategyModulesOf({ env: {}, cwd: folder() }).modules).toEqual([])
  expect(strategyModulesOf({ env: {}, cwd: folder('port: many') }).modules).toEqual([])
  expect(() => strategyModulesOf({ env: {}, cwd: folder('strategyModules: ./own.mjs') })).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      field: 'strategyModules',
      message: expect.stringMatching(/heddle\.yaml: strategyModules: must be a list of modules/),
    }),
  )
})
