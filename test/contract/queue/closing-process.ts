import { done, openQueues } from '@heddle/queue'
import { log } from './process-support.js'

/** A process that opens everything, closes it, and must then end by itself. */
const [kind, url, prefix] = process.argv.slice(2)
if ((kind !== 'postgres' && kind !== 'redis') || url === undefined || prefix === undefined) throw new Error('usage')

const queues = await openQueues({ backend: { kind, url }, prefix, log, create: true })
const started = performance.now()
for (const stage of ['ingest', 'prune', 'assemble'] as const) {
  await queues.defineWorker({
    stage,
    log,
    recordDeadLetter: async () => {},
    handler: async () => {
      process.stdout.write('taken\n')
      await new Promise(() => {})
      return done()
    },
  })
}
await queues.wake('prune', { projectId: crypto.randomUUID(), threadId: crypto.randomUUID() })
process.stdout.write('ready\n')
process.stdin.once('data', async () => {
  process.stdin.destroy()
  await queues.close({ timeoutMs: 300 })
  process.stdout.write(`closed after ${Math.round(performance.now() - started)}\n`)
})
