import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type SnapshotFile, threadIdOf } from '@heddle/core'
import { sweepSnapshotFiles } from '@heddle/store'
import { told } from '@heddle/test-support/forked'
import { chances, wholeNumber } from '@heddle/test-support/samples/chances'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openPipeline, type Pipeline, queueBackends } from '../pipeline/support.js'

const WORKERS = 5
const MESSAGES = 3_000
const script = join(import.meta.dirname, 'saving-process.ts')

/** Loads the sources, as this process does. */
async function startWorker({ queueBackend, databaseUrl, prefix, snapshotsFolder }: Pipeline): Promise<ChildProcess> {
  const { kind, url } = queueBackend
  const child = fork(script, [kind, url, databaseUrl, prefix, join(snapshotsFolder, '..')], {
    execArgv: ['--conditions=heddle:source', '--import=tsx'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await told(child, 'ready')
  return child
}

describe.each(queueBackends())('workers that are killed while they save snapshots on $title', ({ mode, skip }) => {
  test.skipIf(skip)(
    'leave no broken file, and no row without its file',
    async () => {
      const pipeline = await openPipeline(mode, { rollingWindow: null })
      onTestFinished(() => pipeline.close())
      const { client, store, projectId } = pipeline
      const ingest = await pipeline.start(['ingest'])
      const messages = Array.from({ length: MESSAGES }, (_, index) => ({
        role: 'user' as const,
        content: `message ${index} ${'y'.repeat(500)}`,
      }))
      await client.messages.append({ agent: 'a', thread: 't', messages })
      await ingest.stop()

      const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(pipeline)))
      const chance = chances(7)
      const asked: Promise<unknown>[] = []
      const save = () =>
        asked.push(client.snapshots.save({ agent: 'a', description: 'under fire' }, { deadlineMs: 90_000 }))
      for (const worker of workers.slice(1)) {
        save()
        save()
        await new Promise((resolve) => setTimeout(resolve, wholeNumber(chance, 20, 250)))
        worker.kill('SIGKILL')
        await once(worker, 'exit')
        await expectWhole(pipeline)
      }
      // The last one finds the remaining work of the others by itself.
      const settled = await Promise.allSettled(asked)
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(settled.length)
      await expectWhole(pipeline)
      await sweepSnapshotFiles(store, { folder: pipeline.snapshotsFolder })
      const rows = await store.inProject(
        projectId,
        (tx) => tx<{ fileName: string }[]>`select file_name from heddle.snapshots`,
      )
      expect((await filesOf(pipeline)).map(({ name }) => name)).toEqual(rows.map(({ fileName }) => fileName).sort())
      expect(threadIdOf(projectId, 't')).toBe(
        (await client.snapshots.get((await client.snapshots.history('a')).items[0]?.id ?? '')).messages[0]?.thread_id,
      )
    },
    150_000,
  )
})

async function filesOf({ snapshotsFolder }: Pipeline): Promise<{ name: string; path: string }[]> {
  const names = await readdir(snapshotsFolder, { recursive: true, withFileTypes: true }).catch(() => [])
  return names
    .flatMap((name) => (name.isFile() ? [{ name: name.name, path: join(name.parentPath, name.name) }] : []))
    .sort((left, right) => (left.name < right.name ? -1 : 1))
}

/** At any time each file under its name is complete, and each saved row has its file. */
async function expectWhole(pipeline: Pipeline): Promise<void> {
  const { store, projectId } = pipeline
  const saved = await store.inProject(
    projectId,
    (tx) => tx<{ fileName: string; id: string }[]>`
      select id, file_name from heddle.snapshots where status = 'saved' and stored_in = 'files'`,
  )
  const files = (await filesOf(pipeline)).filter(({ name }) => name.endsWith('.json'))
  for (const { path } of files) {
    const file = JSON.parse(await readFile(path, 'utf8')) as SnapshotFile
    expect(file.messages).toHaveLength(MESSAGES)
    expect(file.message_count).toBe(MESSAGES)
  }
  const names = new Set(files.map(({ name }) => name))
  expect(saved.filter(({ fileName }) => !names.has(fileName))).toEqual([])
}
