import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { applicationNameOf, servedStages, stagesServedElsewhere } from '@heddle/host'
import { openStore } from '@heddle/store'
import { migratedDatabase } from '@heddle/test-support'
import { expect, onTestFinished, test } from 'vitest'

test('an ended process and the calling process are not counted as workers, though the server still shows their connections', async () => {
  const database = await migratedDatabase()
  onTestFinished(() => database.drop())
  const ended = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await once(ended, 'close')
  const serving = async (pid: number | undefined) => {
    const applicationName = applicationNameOf({ queuePrefix: 'loom', pid: pid ?? 0, stages: ['ingest'] })
    const store = openStore({ url: database.url, connectionsMax: 1, applicationName })
    onTestFinished(() => store.close())
    await store.ping()
  }
  const store = openStore({ url: database.url, connectionsMax: 1, applicationName: 'looks' })
  onTestFinished(() => store.close())
  const elsewhere = async () => [...(await stagesServedElsewhere(store, 'loom', { isLocal: true }))]

  await serving(ended.pid)
  await serving(process.pid)
  expect([...(await servedStages(store, 'loom'))]).toEqual(['ingest'])
  expect(await elsewhere()).toEqual([])
  // Of processes on other machines only their connections are visible.
  expect([...(await stagesServedElsewhere(store, 'loom', { isLocal: false }))]).toEqual(['ingest'])
  await serving(process.ppid)
  expect(await elsewhere()).toEqual(['ingest'])
})
