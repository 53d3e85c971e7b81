import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type RemoteClient } from '@heddle/client/http'
import { hookEvents, type RecordedEvent } from '@heddle/test-support/claude-code/hook-events'
import { hookOutputSchemas, toolOutputSchema } from '@heddle/test-support/claude-code/hook-schemas'
import { type HookRun, runHooks } from '@heddle/test-support/claude-code/run-hooks'
import { closeLater } from '@heddle/test-support/closing'
import type { Measured } from '@heddle/test-support/figure'
import { namesOf } from '../summary/names.js'
import { startHeddle } from './heddle-up.js'

/** Events after a compaction that show which earlier names were needed. */
const LATER_EVENTS_MAX = 100
const HOOK_MS_MAX = 150

const events = Object.keys(hookOutputSchemas)
export const pluginFigures = [
  ...['invalid', 'stubs', 'recalled', 'reused', 'reused.direct'].map((part) => `claude-code-plugin.${part}`),
  ...events.map((event) => `claude-code-plugin.p99.${event}`),
]

interface Tally {
  readonly ms: Map<string, number[]>
  readonly invalid: string[]
  outputs: number
  recalled: number
  stubs: number
  readonly compactions: Judged[]
}

interface Judged {
  readonly session: string
  readonly wanted: number
  readonly direct: number
  readonly recalled: number
}

/**
 * Replays the recorded sessions through the hooks of the plugin: requests for its HTTP hooks, processes for its commands. Whether
 * the answers have their documented forms, how long they take, whether every output is recalled byte for byte, and whether the
 * names that an agent used after a compaction are in the text that it gets, or in what a reference of it recalls.
 */
export async function measureClaudeCodePlugin(dataDir: string): Promise<Measured[]> {
  const { url } = await startHeddle()
  const client = createClient({ url })
  const dataFolder = await mkdtemp(join(tmpdir(), 'heddle-plugin-'))
  closeLater(() => rm(dataFolder, { recursive: true, force: true }))
  const tally: Tally = { ms: new Map(), invalid: [], outputs: 0, recalled: 0, stubs: 0, compactions: [] }
  const folder = join(dataDir, 'claude-code')
  for (const name of (await readdir(folder)).filter((each) => each.endsWith('.jsonl')).sort()) {
    const lines = (await readFile(join(folder, name), 'utf8')).split('\n').filter(Boolean)
    const session = name.replace(/\.jsonl$/, '')
    process.stderr.write(`  ${session}\n`)
    const recorded = hookEvents(lines, { session, transcript: join(folder, name), cwd: '/' })
    await replay(recorded, { session, client, url, dataFolder, tally })
  }
  return figuresOf(tally)
}

interface Replay {
  readonly session: string
  readonly client: RemoteClient
  readonly url: string
  readonly dataFolder: string
  readonly tally: Tally
}

async function replay(recorded: readonly RecordedEvent[], how: Replay): Promise<void> {
  const { session, client, url, dataFolder, tally } = how
  for (const [at, one] of recorded.entries()) {
    const { event, original } = one
    const name = event.hook_event_name
    for (const done of await runHooks(event, { url, dataFolder })) {
      tally.ms.set(name, [...(tally.ms.get(name) ?? []), done.ms])
      const fault = faultOf(one, done)
      if (fault !== null) tally.invalid.push(`${session} ${name} ${fault}`)
      const { updatedToolOutput, additionalContext } = specificOf(done)
      if (updatedToolOutput !== undefined) tally.stubs++
      if (additionalContext !== undefined) {
        tally.compactions.push(await judge(recorded, at, additionalContext, how))
      }
    }
    if (original === null || event['tool_use_id'] === undefined) continue
    tally.outputs++
    if ((await recallOf(client, session, event)) === original) tally.recalled++
  }
}

/** The fault of an answer that its schema does not allow; null for a valid one. */
function faultOf({ event }: RecordedEvent, { type, code, output }: HookRun): string | null {
  if (code !== (type === 'http' ? 200 : 0)) return `ended with ${code}`
  if (output === null) return null
  const schema = hookOutputSchemas[event.hook_event_name as keyof typeof hookOutputSchemas]
  const read = schema.safeParse(output)
  if (!read.success) return read.error.message
  const { updatedToolOutput } = specificOf({ output })
  if (updatedToolOutput === undefined) return null
  return toolOutputSchema(String(event['tool_name'])).safeParse(updatedToolOutput).error?.message ?? null
}

function specificOf({ output }: Pick<HookRun, 'output'>): { updatedToolOutput?: unknown; additionalContext?: string } {
  return (output as { hookSpecificOutput?: object } | null)?.hookSpecificOutput ?? {}
}

/** Through the reference of the result, in pieces as large as a recall allows. */
async function recallOf(
  client: RemoteClient,
  thread: string,
  { tool_use_id: id }: RecordedEvent['event'],
): Promise<string> {
  const { items } = await client.messages.find({ sourceId: String(id), thread })
  const [{ reference = '' } = {}] = items
  let [text, offset] = ['', 0 as number | null]
  while (offset !== null) {
    const piece = await client.recall({ ref: reference, thread, offset, limit: 1_000_000 })
    text += piece.content
    offset = piece.nextOffset
  }
  return text
}

/** As `summary.reused` judges, over the events in place of messages. */
async function judge(
  recorded: readonly RecordedEvent[],
  at: number,
  text: string,
  { session, client }: Replay,
): Promise<Judged> {
  const before = new Set(recorded.slice(0, at).flatMap((one) => [...namesIn(one)]))
  const after = new Set(recorded.slice(at + 1, at + 1 + LATER_EVENTS_MAX).flatMap((one) => [...namesIn(one)]))
  const wanted = [...after].filter((name) => before.has(name))
  const inText = namesOf(text)
  const behind = new Set<string>()
  for (const [reference] of text.matchAll(/\bmsg-[0-9a-z]{8,}\b/g)) {
    // The one in the explanation at the beginning.
    if (reference === 'msg-1a2b3c4d') continue
    const { content } = await client.recall({ ref: reference, thread: session, offset: 0, limit: 1_000_000 })
    for (const name of namesOf(content)) behind.add(name)
  }
  const direct = wanted.filter((name) => inText.has(name)).length
  const recalled = wanted.filter((name) => inText.has(name) || behind.has(name)).length
  return { session, wanted: wanted.length, direct, recalled }
}

function namesIn({ event, original }: RecordedEvent): Set<string> {
  const { prompt, last_assistant_message: said, tool_input: given } = event
  return namesOf([prompt, said, original, JSON.stringify(given ?? '')].filter(Boolean).join('\n'))
}

function figuresOf({ ms, invalid, outputs, recalled, stubs, compactions }: Tally): Measured[] {
  const sum = (part: 'wanted' | 'direct' | 'recalled') => compactions.reduce((all, each) => all + each[part], 0)
  const each = compactions.map(({ session, wanted, recalled: hit }) => `${session} ${(hit / wanted).toFixed(2)}`)
  const total = [...ms.values()].reduce((all, { length }) => all + length, 0)
  return [
    figure('invalid', invalid.length, 'answers', '<= 0', [`${total} runs of hooks`, ...invalid.slice(0, 5)].join('; ')),
    { name: 'claude-code-plugin.stubs', value: stubs, unit: 'outputs', note: `${outputs} outputs of tools` },
    figure('recalled', recalled / outputs, 'share', '>= 1', `${outputs} outputs of tools, byte for byte`),
    figure('reused', sum('recalled') / sum('wanted'), 'share', '>= 0.8', each.join(', ')),
    {
      name: 'claude-code-plugin.reused.direct',
      value: sum('direct') / sum('wanted'),
      unit: 'share',
      note: 'without a recall',
    },
    ...events.map((event) => {
      const sorted = (ms.get(event) ?? []).toSorted((left, right) => left - right)
      const p99 = sorted[Math.max(0, Math.ceil(sorted.length * 0.99) - 1)] ?? 0
      const median = sorted[Math.floor(sorted.length / 2)] ?? 0
      return figure(
        `p99.${event}`,
        p99,
        'ms',
        `<= ${HOOK_MS_MAX}`,
        `${sorted.length} runs, median ${median.toFixed(1)}`,
      )
    }),
  ]
}

function figure(part: string, value: number, unit: string, target: string, note: string): Measured {
  return { name: `claude-code-plugin.${part}`, value, unit, target, note }
}
