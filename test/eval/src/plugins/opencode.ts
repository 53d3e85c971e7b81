import { fileURLToPath } from 'node:url'
import { hookEvents, type RecordedEvent } from '@heddle/test-support/claude-code/hook-events'
import type { Measured } from '@heddle/test-support/figure'
import { OpenCodeSession } from '@heddle/test-support/opencode/session'
import { tsImport } from 'tsx/esm/api'
import { copiesOf } from './copies.js'
import { judge, recallResult, recordedSessions } from './recorded.js'
import { openSurroundings, type Surroundings } from './surroundings.js'
import { figureNames, Tally } from './tally.js'

const PLUGIN = 'opencode-plugin'
/** OpenCode loads the plugin from its sources. */
const SOURCE = fileURLToPath(new URL('../../../../plugins/opencode/heddle.ts', import.meta.url))
const hooks = [
  'chat.message',
  'experimental.text.complete',
  'tool.execute.after',
  'event',
  'experimental.session.compacting',
  'experimental.chat.messages.transform',
]
export const openCodeFigures = figureNames(PLUGIN, hooks)

/** The same for the plugin of OpenCode, whose hooks are functions. */
export async function measureOpenCodePlugin(dataDir: string): Promise<Measured[]> {
  const surroundings = await openSurroundings()
  const { Heddle } = (await tsImport(SOURCE, import.meta.url)) as {
    Heddle: Parameters<typeof OpenCodeSession.start>[0]
  }
  const tally = new Tally()
  for await (const { session, path, lines } of recordedSessions(dataDir)) {
    const opened = await OpenCodeSession.start(Heddle, session, { url: surroundings.url })
    const events = hookEvents(lines, { session, transcript: path, cwd: '/' })
    for (const at of events.keys()) {
      await new Replay(opened, events, surroundings, tally).run(at)
      if (events[at]?.event.hook_event_name !== 'PreCompact') continue
      for await (const { session: copy, query } of copiesOf(surroundings.client, session)) {
        const copied = await OpenCodeSession.start(Heddle, copy, { url: surroundings.url, query })
        await compact(copied, tally)
        await copied.remove()
      }
    }
    await opened.remove()
  }
  return tally.figures(PLUGIN, hooks)
}

/** Of the events of one session. */
class Replay {
  constructor(
    private readonly session: OpenCodeSession,
    private readonly events: readonly RecordedEvent[],
    private readonly surroundings: Surroundings,
    private readonly tally: Tally,
  ) {}

  async run(at: number): Promise<void> {
    const { event, original } = this.events[at] as RecordedEvent
    const { session } = this
    const tool = toolOf(String(event['tool_name']))
    const input = inputOf((event['tool_input'] ?? {}) as Fields)
    switch (event.hook_event_name) {
      case 'UserPromptSubmit':
        return await this.#timed('chat.message', () => session.prompt(String(event['prompt'])))
      case 'Stop':
        return await this.#timed('experimental.text.complete', () =>
          session.say(String(event['last_assistant_message'])),
        )
      case 'PostToolUse':
        return await this.#call(tool, input, original)
      case 'PostToolUseFailure':
        return await this.#timed('event', () => session.fail(tool, input, String(event['error'])))
      case 'PreCompact':
        return await this.#compact(at)
      default:
    }
  }

  async #call(tool: string, input: Fields, original: string | null): Promise<void> {
    const { tally, session } = this
    const given = original ?? 'Edit applied successfully.'
    const { id, output } = await this.#timed('tool.execute.after', () => session.call(tool, input, given))
    if (output !== given) tally.stubs++
    tally.outputs++
    if ((await recallResult(this.surroundings.client, session.id, id)) === given) tally.recalled++
  }

  async #compact(at: number): Promise<void> {
    const { session, events, tally } = this
    const text = await compact(session, tally)
    tally.compactions.push(await judge(this.surroundings.client, { session: session.id, events, at, text }))
  }

  #timed<Result>(hook: string, work: () => Promise<Result>): Promise<Result> {
    return timed(this.tally, hook, work)
  }
}

/** @returns the text that is given to the model which writes the summary, which is also that of each request afterwards */
async function compact(session: OpenCodeSession, tally: Tally): Promise<string> {
  const [text = ''] = await timed(tally, 'experimental.session.compacting', () => session.compact('A summary.'))
  const request = await timed(tally, 'experimental.chat.messages.transform', () => session.request())
  const shown = request.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
  if (text === '' || !shown.includes(text)) tally.invalid.push(`${session.id}: a request without the text`)
  return text
}

async function timed<Result>(tally: Tally, hook: string, work: () => Promise<Result>): Promise<Result> {
  const startedMs = performance.now()
  const result = await work()
  tally.took(hook, performance.now() - startedMs)
  return result
}

type Fields = Record<string, unknown>

/** The name of a tool in OpenCode: `mcp__github__issue` is `github_issue`. */
function toolOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/^mcp__/, '')
    .replace('__', '_')
}

/** The names of fields in OpenCode: `file_path` is `filePath`. */
function inputOf(input: Fields): Fields {
  const renamed = (name: string) => name.replace(/_([a-z])/g, (_, first: string) => first.toUpperCase())
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [renamed(name), value]))
}
