import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { expect, onTestFinished, test } from 'vitest'
import { openHome } from '../cli/cli-support.js'

const EXAMPLE = fileURLToPath(new URL('../../../docs/examples/generated-client.ts', import.meta.url))
const MODULES = fileURLToPath(new URL('../../../node_modules/', import.meta.url))
const COMPILER = join(MODULES, '.bin', 'tsc')
const run = promisify(execFile)

test('a client that a public generator makes from the OpenAPI document compiles, and works against heddle up', async () => {
  // As for a user: only the built command, an empty folder, and a Postgres server in it.
  const home = await openHome()
  const up = home.start(['up', '--port', '0', '--json'])
  onTestFinished(async () => {
    up.kill('SIGTERM')
    expect((await up.ended).code).toBe(0)
  })
  const { url, mode, queues } = JSON.parse(await up.firstLine)
  expect({ mode, queues }).toEqual({ mode: 'embedded', queues: 'postgres' })

  // In node_modules, because the generated program imports what is installed there.
  const folder = await mkdtemp(join(MODULES, '.generated-client-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenAPI3
  await writeFile(join(folder, 'schema.d.ts'), astToString(await openapiTypescript(document)))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await copyFile(EXAMPLE, join(folder, 'client.ts'))
  const flags = [
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--types',
    'node',
    '--skipLibCheck',
    '--ignoreConfig',
  ]
  const compiled = await run(COMPILER, [...flags, 'client.ts'], { cwd: folder }).catch((error) => error)
  expect(compiled.stdout).toBe('')

  const { journey } = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'client.js')).href)
  const did = await journey(url, { agent: 'keeper', thread: 'night' })
  expect(did).toMatchObject({
    system: 'You keep a lighthouse.',
    items: ['rule log always'],
    held: 'Write every ship into the log.',
    stored: 2,
    recalled: 'Which ships passed tonight?',
    snapshot: 2,
    restored: 2,
    refused: 'NOT_FOUND',
  })
  const texts = ({ messages }: { messages: unknown }) => JSON.stringify(messages)
  expect(texts(did.context)).toContain('Halcyon')
  expect(texts(did.context)).toContain('Write every ship into the log.')
  expect(texts(did.cleared)).not.toContain('Halcyon')
  expect(texts(did.afterwards)).toContain('Halcyon')
})
