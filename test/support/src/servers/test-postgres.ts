import { chmod, mkdtemp, rm } from 'node:fs/promises'
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

/** The Postgres of `DATABASE_URL`, otherwise one from npm in a temporary folder. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const given = process.env['DATABASE_URL']
  if (given !== undefined && given !== '') return { url: given, owned: false, stop: async () => {} }

  const dataDir = await mkdtemp(join(tmpdir(), 'heddle-test-postgres-'))
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
