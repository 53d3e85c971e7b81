import { constants } from 'node:fs'
import { access, chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@heddle/embedded'
import { createLogger } from '@heddle/runtime'

export interface TestPostgres {
  /** A user that may create databases. */
  url: string
  /** Whether the server exists only for this run. */
  owned: boolean
  stop(): Promise<void>
}

/** Linux keeps the files of this folder in memory. */
const MEMORY = '/dev/shm'
/** The log of the server grows to a gigabyte, and some dozens of databases exist at once; containers often have 64 MiB here. */
const MEMORY_FREE_MIN_BYTES = 4 * 1_024 ** 3

/** The Postgres of `DATABASE_URL`, otherwise one from npm in a temporary folder, in memory if there is enough of it. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const given = process.env['DATABASE_URL']
  if (given !== undefined && given !== '') return { url: given, owned: false, stop: async () => {} }

  const dataDir = await mkdtemp(join(await folderOfData(), 'heddle-test-postgres-'))
  await chmod(dataDir, 0o711)
  const log = createLogger({ level: 'warn', name: 'test-postgres' })
  const server = await startEmbeddedPostgres({ dataDir, durable: false, log })
  return {
    url: server.adminUrl,
    owned: true,
    async stop() {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Each test file copies a database of 700 files, which takes a tenth of the time in memory. */
async function folderOfData(): Promise<string> {
  try {
    await access(MEMORY, constants.W_OK)
    const { bavail, bsize } = await statfs(MEMORY)
    if (bavail * bsize >= MEMORY_FREE_MIN_BYTES) return MEMORY
  } catch {
    // No such folder, or not for this user.
  }
  return tmpdir()
}
