import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabaseHome } from '../cli/cli-support.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const compiler = join(root, 'node_modules/.bin/tsc')

/** All checks of `strict` and related flags. */
const strict = [
  '--strict',
  '--noUncheckedIndexedAccess',
  '--exactOptionalPropertyTypes',
  '--noPropertyAccessFromIndexSignature',
  '--noImplicitOverride',
  '--noImplicitReturns',
  '--noFallthroughCasesInSwitch',
  '--noUnusedLocals',
  '--noUnusedParameters',
  '--verbatimModuleSyntax',
  '--isolatedModules',
]
const program = ['--ignoreConfig', '--module', 'nodenext', '--target', 'es2023', '--types', 'node']
/** A program with an open handle would never end. */
const ENDS_WITHIN_MS = 60_000

async function snippet(): Promise<string> {
  const text = await readFile(join(root, 'README.md'), 'utf8')
  const [, code] = /In an agent[^\n]*:\n\n```ts\n([\s\S]*?)```/.exec(text) ?? []
  if (code === undefined) throw new Error('README.md has no program of an agent')
  return code
}

test('the agent of README compiles under every strict flag, works with a running heddle up, and ends', async () => {
  const code = await snippet()
  expect(code).toContain('await connect()')
  // In a place where packages are found as in the project of a user.
  const folder = await mkdtemp(join(root, 'test/pipeline/.readme-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'agent.ts'), code)
  await run(compiler, [...program, ...strict, join(folder, 'agent.ts')], { cwd: folder }).catch((error) => {
    throw new Error(`the program does not compile:\n${error.stdout}`)
  })

  const home = await openDatabaseHome()
  const up = home.start(['up', '--port', '0', '--json'])
  const { url } = JSON.parse(await up.firstLine)
  const { stdout } = await run(process.execPath, [join(folder, 'agent.js')], {
    env: { PATH: process.env['PATH'], HEDDLE_URL: url },
    timeout: ENDS_WITHIN_MS,
  })
  expect(stdout).toContain('The login fails.')
  expect(stdout).toContain('eligible')
  up.kill('SIGTERM')
  await up.ended
})
