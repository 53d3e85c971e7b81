import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { command } from './command.js'

export interface Published {
  readonly name: string
  readonly path: string
}

/** The folders of all published packages in this repository. */
export async function publishedPackages(root: string): Promise<Published[]> {
  const rooms = await Promise.all(
    ['packages', 'services'].map(async (room) =>
      (await readdir(join(root, room))).map((name) => join(root, room, name)),
    ),
  )
  const manifests = await Promise.all(
    rooms.flat().map(async (path) => {
      const manifest = JSON.parse(await readFile(join(path, 'package.json'), 'utf8')) as {
        readonly name: string
        readonly private?: boolean
      }
      return { path, ...manifest }
    }),
  )
  return manifests.filter(({ private: isPrivate }) => isPrivate !== true).map(({ name, path }) => ({ name, path }))
}

/** Packs each package as a release would, and publishes it to the registry. */
export async function publishAll(
  packages: readonly Published[],
  { registry, folder, env }: { registry: string; folder: string; env: NodeJS.ProcessEnv },
): Promise<void> {
  const settings = join(folder, 'publish.npmrc')
  // npm requires a token; this registry accepts any.
  const host = registry.replace(/^http:/, '')
  await writeFile(
    settings,
    `@heddle:registry=${registry}\nregistry=${registry}\n${host.replace(/\/$/, '')}/:_authToken=none\n`,
  )
  for (const { path } of packages) {
    await command(['npm', 'publish', '--ignore-scripts', '--userconfig', settings, '--provenance=false'], {
      cwd: path,
      env,
    })
  }
}
