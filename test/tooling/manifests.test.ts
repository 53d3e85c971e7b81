import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Packages for direct use; the others are parts of these and say so. */
const PUBLIC = ['ai-sdk', 'cli', 'client', 'contracts', 'engine', 'langchain', 'mastra', 'openai-agents', 'sessions']

interface Manifest {
  readonly [field: string]: unknown
  readonly name: string
  readonly version: string
  readonly description: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>
}

const folders = ['packages', 'services'].flatMap((room) =>
  readdirSync(join(root, room), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(root, room, entry.name, 'package.json')))
    .map(({ name }) => ({ name, path: `${room}/${name}` })),
)
const manifestOf = (path: string) => JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as Manifest
const versionOfAll = manifestOf('packages/cli').version

test.each(folders)('$path has a manifest with all fields that npm and its users need', ({ name, path }) => {
  const manifest = manifestOf(path)
  expect(manifest).not.toHaveProperty('private')
  expect(manifest).toMatchObject({
    name: `@heddle/${name}`,
    version: versionOfAll,
    license: 'MIT',
    type: 'module',
    engines: { node: '>=20.19' },
    repository: { type: 'git', url: 'git+https://github.com/heddle/heddle.git', directory: path },
    publishConfig: { access: 'public' },
  })
  expect(manifest['sideEffects']).toBeDefined()
  // Sources, tests, maps and what the compiler remembers stay behind.
  expect(manifest['files']).toEqual(
    expect.arrayContaining(['dist', '!dist/**/*.test.*', '!dist/**/*.map', '!dist/**/*.tsbuildinfo']),
  )
  for (const door of Object.values(manifest.exports)) {
    expect(Object.keys(door)).toEqual(expect.arrayContaining(['types', 'default']))
  }
  const readme = readFileSync(join(root, path, 'README.md'), 'utf8')
  expect(readme).toContain(`# @heddle/${name}`)
  if (PUBLIC.includes(name)) return
  expect(manifest.description).toMatch(/^Internal part of Heddle: /)
  expect(readme).toContain('Internal part of Heddle')
})

test.each(folders)(
  '$path depends on packages of Heddle in its own version, and on no cycle of them',
  ({ name, path }) => {
    const { dependencies = {}, peerDependencies = {} } = manifestOf(path)
    for (const [dependency, version] of Object.entries({ ...dependencies, ...peerDependencies })) {
      if (dependency.startsWith('@heddle/')) expect(version, dependency).toBe(versionOfAll)
    }
    expect(dependenciesOf(name)).not.toContain(name)
  },
)

test('the client over HTTP depends on the contracts and on few other packages', () => {
  expect(Object.keys(manifestOf('packages/client').dependencies ?? {}).sort()).toEqual([
    '@heddle/contracts',
    'uuid',
    'zod',
  ])
  expect(dependenciesOf('client')).toEqual(new Set(['contracts']))
})

/** The packages of Heddle that are installed with one, by their names without the scope. */
function dependenciesOf(name: string, found = new Set<string>()): Set<string> {
  const folder = folders.find((each) => each.name === name)
  if (folder === undefined) throw new Error(`no package ${name}`)
  for (const dependency of Object.keys(manifestOf(folder.path).dependencies ?? {})) {
    const [, part] = /^@heddle\/(.+)$/.exec(dependency) ?? []
    if (part === undefined || found.has(part)) continue
    found.add(part)
    dependenciesOf(part, found)
  }
  return found
}
