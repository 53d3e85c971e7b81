import { openQueues } from '@heddle/queue'
import { log, shortLocks } from './process-support.js'

/** A worker that takes a job and hangs in it, for a test that kills it. */
const [kind, url, prefix] = process.argv.slice(2)
if ((kind !== 'postgres' && kind !== 'redis') || url === undefined || prefix === undefined) throw new Error('usage')

const queues = await openQueues({ backend: { kind, url }, prefix, log, create: true })
await queues.defineWorker({
  stage: 'prune',
  log,
  timing: shortLocks,
  recordDeadLetter: async () => {},
  handler: () => {
    process.stdout.write('taken\n')
    return new Promise(() => {})
  },
})
process.stdout.write('ready\n')
