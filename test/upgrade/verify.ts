import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedPostgres } from '@heddle/embedded'
import { createLogger } from '@heddle/runtime'
import { closeLater } from '@heddle/test-support/closing'
import postgres from 'postgres'
import type { Backend, UpgradeArguments } from './arguments.js'
import { type Judged, judge } from './by-design.js'
import { openCheckout, type Place } from './checkout.js'
import { prepareCorpus } from './corpus.js'
import { type Readings, readAll } from './reading.js'
import { writeData } from './write-data.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Verified extends Judged {
  readonly readings: number
}

/** Writes with the old version, reads with both, and returns the differences. */
export async function verifyUpgrade(
  backend: Backend,
  { old, data, readings }: UpgradeArguments,
  say: (line: string) => void,
): Promise<Verified> {
  const place = await openPlace(backend)
  const corpus = await prepareCorpus(data, place.dir)
  const versions = { old: openCheckout('old', old), current: openCheckout('current', ROOT) }
  say('the old version writes')
  const written = await writeData(versions.old, place, corpus)
  const read = async (name: keyof typeof versions, before?: Readings) => {
    say(`the ${name} version reads`)
    const found = await readAll(versions[name], place, {
      written,
      queries: corpus.queries,
      ...(before !== undefined && { before }),
    })
    if (readings !== null) await keep(found, join(readings, backend), `${name}.jsonl`)
    return found
  }
  const before = await read('old')
  const after = await read('current', before)
  return { readings: before.size, ...judge(before, after) }
}

async function keep(readings: Readings, folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, name), [...readings].map((reading) => `${JSON.stringify(reading)}\n`).join(''))
}

/** An empty folder and an empty database, on DATABASE_URL or on a new server. */
async function openPlace(backend: Backend): Promise<Place> {
  const dir = await mkdtemp(join(tmpdir(), 'heddle-upgrade-'))
  // Started by root, Postgres runs as another user, which must be able to pass through this folder.
  await chmod(dir, 0o711)
  closeLater(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }))
  const environment = { HEDDLE_EMBEDDER: 'hashing' }
  if (backend === 'embedded') return { dir, environment }
  const serverUrl = process.env['DATABASE_URL'] ?? (await startServer(dir))
  const name = `heddle_upgrade_${process.pid}`
  await onServer(serverUrl, (sql) => sql`CREATE DATABASE ${sql(name)} ENCODING 'UTF8' TEMPLATE template0`)
  closeLater(() => onServer(serverUrl, (sql) => sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`))
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { dir, environment: { ...environment, DATABASE_URL: url.href } }
}

async function startServer(dir: string): Promise<string> {
  const log = createLogger({ level: 'warn', name: 'upgrade' })
  const server = await startEmbeddedPostgres({ dataDir: join(dir, 'server'), durable: false, log })
  closeLater(() => server.stop())
  return server.adminUrl
}

async function onServer(url: string, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await work(sql)
  } finally {
    await sql.end()
  }
}
