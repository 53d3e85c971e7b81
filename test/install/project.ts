import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { satisfies } from 'semver'
import { command } from './command.js'

/** The oldest Node that Heddle runs on. */
const NODE_OLDEST = '20.19.0'
const BYTES_PER_MEGABYTE = 1_000_000

export interface Installed {
  readonly packages: number
  readonly megabytes: number
  readonly seconds: number
}

export interface ProjectOptions {
  /** The Node that runs its programs. Default: this one. */
  readonly node?: string
  /** The Node that its packages have to accept. Default: the oldest one of Heddle. */
  readonly nodeOldest?: string
}

/** An empty folder outside of this repository, in which packages are installed as a user would. */
export class Project {
  constructor(
    readonly folder: string,
    readonly env: NodeJS.ProcessEnv,
    readonly node: string,
    readonly nodeOldest: string,
  ) {}

  static async make(
    folder: string,
    env: NodeJS.ProcessEnv,
    scopeRegistry: string,
    { node = process.execPath, nodeOldest = NODE_OLDEST }: ProjectOptions = {},
  ): Promise<Project> {
    await mkdir(folder)
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
    await writeFile(join(folder, '.npmrc'), `@heddle:registry=${scopeRegistry}\n`)
    return new Project(folder, env, node, nodeOldest)
  }

  /** @throws Error if npm fails, warns about an engine, or installs a package that refuses its oldest Node */
  async install(...names: readonly string[]): Promise<Installed> {
    const startedMs = performance.now()
    const { stdout, stderr } = await command(['npm', 'install', '--no-audit', '--no-fund', ...names], {
      cwd: this.folder,
      env: this.env,
      timeoutMs: 600_000,
    })
    if (/EBADENGINE/.test(stdout + stderr)) throw new Error(`npm warns of an engine:\n${stdout}${stderr}`)
    const seconds = Math.round((performance.now() - startedMs) / 1_000)
    const folders = await this.#packageFolders()
    await Promise.all(folders.map((folder) => assertAccepts(folder, this.nodeOldest)))
    const bytes = await bytesIn(join(this.folder, 'node_modules'))
    return { packages: folders.length, megabytes: Math.round((bytes / BYTES_PER_MEGABYTE) * 10) / 10, seconds }
  }

  /** Runs a command of one of the packages. */
  async npx(parameters: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
    const options = { cwd: this.folder, env: { ...this.env, ...env } }
    return (await command(['npx', '--no', ...parameters], options)).stdout
  }

  async #packageFolders(): Promise<string[]> {
    const lock = JSON.parse(await readFile(join(this.folder, 'node_modules/.package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, unknown>>
    }
    return Object.keys(lock.packages).map((path) => join(this.folder, path))
  }
}

async function assertAccepts(folder: string, oldest: string): Promise<void> {
  const { name, engines } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    readonly name: string
    readonly engines?: { readonly node?: string }
  }
  const wanted = engines?.node
  if (wanted !== undefined && !satisfies(oldest, wanted)) {
    throw new Error(`${name} wants Node ${wanted}, and is installed on ${oldest}`)
  }
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
