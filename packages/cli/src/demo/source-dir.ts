import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The code that the agent of the demo works on: that of Heddle itself. In a checkout it is the whole repository, the
 * nearest folder above the package that is set up for development; installed, it is the folder that holds the
 * packages of Heddle.
 */
export function findSourceDir(from: string = fileURLToPath(import.meta.url)): string {
  const packageDir = nearest(dirname(from), (folder) => existsSync(join(folder, 'package.json'))) ?? dirname(from)
  const checkout = nearest(dirname(packageDir), (folder) => existsSync(join(folder, 'biome.json')))
  if (checkout !== null) return checkout
  // node_modules/@heddle/cli: its neighbours are the other packages.
  const siblings = dirname(packageDir)
  return existsSync(join(siblings, 'core')) ? siblings : packageDir
}

function nearest(folder: string, matches: (folder: string) => boolean): string | null {
  if (matches(folder)) return folder
  const above = dirname(folder)
  return above === folder ? null : nearest(above, matches)
}
