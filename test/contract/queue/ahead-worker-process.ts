import { openQueues } from '@heddle/queue'
import { log } from './process-support.js'

/** A worker of `prune` that fails each job, or hangs in it, for a test that runs it with another clock and kills it. */
const [kind, url, prefix, act] = process.argv.slice(2)
if ((kind !== 'postgres' && kind !== 'redis') || url === undefined || prefix === undefined) throw new Error('usage')

const queues = await openQueues({ backend: { kind, url }, prefix, log, create: true })
const worker = await queues.defineWorker({
  stage: 'prune',
  log,
  recordDeadLetter: async () => {},
  handler: () => {
    process.stdout.write('taken\n')
    return act === 'fail' ? Promise.reject(new Error('for now')) : new Promise(() => {})
  },
})
worker.onSettled(({ result }) => process.stdout.write(`${result}\n`))
process.stdout.write(`ready in ${new Date().getUTCFullYear()}\n`)
