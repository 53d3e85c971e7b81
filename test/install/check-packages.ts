import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { command } from './command.js'
import type { Published } from './publish.js'

/**
 * Lints each package in its published form: by publint, and by "are the types wrong" for every way in which an ES module
 * program can import it.
 *
 * @throws Error that lists all findings
 */
export async function checkPackages(root: string, packages: readonly Published[], work: string): Promise<void> {
  const folder = join(work, 'packed')
  await mkdir(folder)
  const found: string[] = []
  // Two at a time, because each check is a CPU-bound process.
  const waiting = [...packages]
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      found.push(...(await faultsOf(next, { folder, attw: join(root, 'node_modules/.bin/attw') })))
    }
  }
  await Promise.all([worker(), worker()])
  if (found.length > 0) throw new Error(`the packages are not clean:\n${found.join('\n')}`)
}

async function faultsOf(
  { name, path }: Published,
  { folder, attw }: { folder: string; attw: string },
): Promise<string[]> {
  const { env } = process
  const pack = ['npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const [{ filename, files }] = JSON.parse((await command(pack, { cwd: path, env })).stdout) as [PackReport]
  const tarball = join(folder, filename)
  const bytes = new Uint8Array(await readFile(tarball)).buffer
  const { messages, pkg } = await publint({ level: 'suggestion', strict: true, pack: { tarball: bytes } })
  const types = await command([attw, tarball, '--profile', 'esm-only', '--no-emoji'], { cwd: folder, env }).then(
    () => [],
    (error: Error) => [`${name}: ${error.message}`],
  )
  return [
    ...files.filter((file) => UNWANTED.test(file.path)).map((file) => `${name}: packs ${file.path}`),
    ...messages.map((message) => `${name}: ${formatMessage(message, pkg, { color: false })}`),
    ...types,
  ]
}

interface PackReport {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

/** Tests, source maps, sources and compiler caches are not published. */
const UNWANTED = /\.test\.|\.map$|tsbuildinfo$|(^|\/)src\/|\.ts$(?<!\.d\.ts)/
