/*
 * Prints the trace of one turn as text, as it is in docs/telemetry.md: `npm run trace`. With `--write` it replaces the one there.
 * DATABASE_URL and REDIS_URL select the servers as for any command; without them it is the embedded one.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startHeddle } from '../soak/heddle-process.js'
import { startReceiver } from './receiver.js'
import { renderTrace } from './render.js'
import { takeTurn } from './turn.js'

const PAGE = fileURLToPath(new URL('../../docs/telemetry.md', import.meta.url))
const PLACE = /(<!-- The output of `npm run trace`. -->\n```text\n)[^`]*(```)/
/** For the stages behind the answer: they are woken at the end of the append. */
const STAGES_MS = 2_000

const folder = await mkdtemp(join(tmpdir(), 'heddle-trace-'))
const receiver = await startReceiver()
const up = startHeddle(['up', '--port', '0', '--data', join(folder, 'data'), '--json'], {
  HEDDLE_TELEMETRY_URL: receiver.url,
  HEDDLE_TELEMETRY_SAMPLED: '0',
  HEDDLE_EMBEDDER: 'hashing',
  // As with a gateway whose appends its workers commit, so that the turn passes through every queue.
  HEDDLE_DIRECT_APPENDS: 'false',
  HEDDLE_LOG_LEVEL: 'warn',
})
try {
  const { url } = await up.ready()
  const options = { url: String(url), collectorUrl: receiver.url }
  // The first turn loads modules and opens connections.
  await takeTurn({ ...options, thread: 'first' })
  const traceId = await takeTurn({ ...options, thread: 'shown' })
  await wait(STAGES_MS)
  await up.stop()
  const text = renderTrace(receiver.spans.filter((span) => span.traceId === traceId))
  process.stdout.write(`${text}\n`)
  if (process.argv.includes('--write')) {
    const page = await readFile(PAGE, 'utf8')
    await writeFile(
      PAGE,
      page.replace(PLACE, (_, before: string, after: string) => `${before}${text}\n${after}`),
    )
  }
} finally {
  await up.stop()
  await receiver.close()
  await rm(folder, { recursive: true, force: true })
}
