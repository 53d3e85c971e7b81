import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from '@heddle/client/http'
import { executablePath } from '../open-page.js'
import { type Figure, measurePages } from './figures.js'
import { buildLargeContext, fillThread } from './long-thread.js'
import { startGateway } from './own-gateway.js'

const USAGE = `npm run inspector:measure -- [--messages N] [--context N] [--url URL] [--thread NAME]

  --messages N    messages of the thread; default 100,000
  --context N     tokens of the context; default 150,000
  --url URL       a running gateway without keys, instead of a new one in an empty folder
  --thread NAME   an existing thread of it, which is measured as it is

Opens the inspector on a long thread and a large context in Chromium, and prints one line of JSON for each figure. Exit code 0
if all targets are met, 1 if one is missed, 2 for wrong arguments or without a Chromium.`

async function main(): Promise<number> {
  const given = readArguments()
  if (given === null || executablePath === null) {
    process.stderr.write(given === null ? `${USAGE}\n` : 'no chromium was found on the PATH\n')
    return 2
  }
  if (given.url !== undefined) return await measure(given.url, given)
  const folder = await mkdtemp(join(tmpdir(), 'heddle-measure-'))
  const gateway = await startGateway(folder)
  try {
    return await measure(gateway.url, given)
  } finally {
    await gateway.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

type Given = NonNullable<ReturnType<typeof readArguments>>

async function measure(url: string, { messages, context: tokens, thread: existing }: Given): Promise<number> {
  const client = createClient({ url })
  const thread = existing ?? 'long'
  if (existing === undefined) await fillThread(client, { thread, messages, budget: tokens })
  const context = await buildLargeContext(client, { thread, tokens })
  let missed = 0
  const print = (figure: Figure) => {
    if (!figure.pass) missed++
    process.stdout.write(`${JSON.stringify(figure)}\n`)
  }
  await measurePages({ url, thread, context }, print)
  // Times of a machine with more work than cores are those of the work beside it.
  const [load = 0] = loadavg()
  process.stdout.write(`${JSON.stringify({ name: 'machine.load', value: load, cores: availableParallelism() })}\n`)
  return missed === 0 ? 0 : 1
}

function readArguments() {
  const text = { type: 'string' } as const
  try {
    const { values } = parseArgs({ options: { messages: text, context: text, url: text, thread: text } })
    const { messages = '100000', context = '150000', url, thread } = values
    const isCount = (value: string) => /^[1-9]\d{0,6}$/.test(value)
    if (!isCount(messages) || !isCount(context) || (thread !== undefined && url === undefined)) return null
    return { messages: Number(messages), context: Number(context), url, thread }
  } catch {
    return null
  }
}

process.exitCode = await main()
