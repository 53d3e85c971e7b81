/** A process that runs an embedded Postgres in the folder of its first parameter until it is stopped. */
import { createInterface } from 'node:readline'
import { startEmbeddedPostgres } from '@heddle/embedded'
import { createLogger } from '@heddle/runtime'

const [dataDir = ''] = process.argv.slice(2)
const log = createLogger({ level: 'warn', name: 'owner', destination: process.stderr })
const server = await startEmbeddedPostgres({ dataDir, log, durable: process.env['DURABLE'] !== '0' })
process.stdout.write(`started ${JSON.stringify(server)}\n`)

for await (const line of createInterface(process.stdin)) if (line === 'stop') break
await server.stop()
process.stdout.write('stopped\n')
process.exit(0)
