import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ContextResult, limits, stageNames } from '@heddle/contracts'
import type { Engine } from '@heddle/host'
import type { Config, Logger } from '@heddle/runtime'
import type { SessionFormat } from '@heddle/sessions'
import type { CommandContext } from '../connect/context.js'
import { untilStopped } from '../connect/with-engine.js'
import { storeDestination } from '../importing/destination.js'
import { fileOf, type PlannedThread, planImport } from '../importing/held-plan.js'
import { sendFiles } from '../importing/send.js'
import { readRecordedSession } from './recorded-session.js'
import { type DemoReport, fatesOf, type RecalledResult, summaryOf } from './report.js'
import { DEMO_CALL_MS_MAX, settle } from './settle.js'
import { StepTimer } from './step-timer.js'

export interface DemoOptions {
  readonly context: CommandContext
  readonly config: Config
  readonly log: Logger
  readonly scratchDir: string
  readonly budget: number
  /** A session of the user's own instead of the recorded one. */
  readonly file?: { readonly path: string; readonly format: SessionFormat | 'auto' }
}

const AGENT = 'demo-agent'
const BUILD_DEADLINE_MS = 60_000
const SYSTEM_PROMPT =
  'You are a coding agent. Read before you change anything, check your changes, and state what is left to do.'

/**
 * Shows the pipeline from end to end: a session is sent through the queue into the store, pruned and summarized; a context
 * within a budget is built from it, and one condensed result of it is recalled.
 */
export async function runDemo(options: DemoOptions): Promise<DemoReport> {
  const { context, config, log } = options
  const steps = new StepTimer(context.printer)

  const session = await steps.run('read the session', () => sessionOf(options))
  const { openEngine } = await import('@heddle/host')
  const engine = await steps.run('start the server and the workers', () =>
    openEngine({
      context,
      config,
      log,
      needs: {
        stages: stageNames,
        workers: 'always',
        reconcile: true,
        migrate: true,
        durable: false,
        summaryCallMsMax: DEMO_CALL_MS_MAX,
      },
    }),
  )
  try {
    return await untilStopped(context.signal, runPipeline(engine, session, options, steps))
  } finally {
    await steps.run('stop everything', () => engine.close())
  }
}

/** The recorded session is imported in the same way as a user's own file. */
async function sessionOf({ context, config, file, scratchDir }: DemoOptions): Promise<PlannedThread> {
  if (file !== undefined) return longestThread(context, config, file.path, file.format)
  const path = join(scratchDir, 'demo-session.jsonl')
  await writeFile(path, await readRecordedSession())
  return longestThread(context, config, path, 'claude-code')
}

async function longestThread(
  context: CommandContext,
  config: Config,
  path: string,
  format: SessionFormat | 'auto',
): Promise<PlannedThread> {
  const threads = await planImport([path], { cwd: context.cwd, project: config.project, format })
  const [longest] = [...threads].sort((left, right) => right.messages.length - left.messages.length)
  if (longest === undefined) throw new Error(`${path} contains no thread`)
  return longest
}

async function runPipeline(
  engine: Engine,
  session: PlannedThread,
  options: DemoOptions,
  steps: StepTimer,
): Promise<DemoReport> {
  const { context, budget } = options
  const { client } = engine
  const { thread } = session
  await client.agents.put(AGENT, { systemPrompt: SYSTEM_PROMPT, settings: { rollingWindow: null, budget } })

  const {
    imported: [imported],
  } = await steps.run('send the messages through the queue, until stored', () =>
    sendFiles(context, storeDestination(engine), [fileOf(session)], { agent: AGENT, newAgentRollingWindow: null }),
  )
  if (imported === undefined) throw new Error('the session was not sent')
  const wentOn = await steps.run('prune and summarize, until settled', () => settle(engine, thread, context.signal))
  const built = await steps.run('build a context', () =>
    client.contexts.build(
      { agent: AGENT, thread, budget, format: 'neutral', message: 'What is left to do?' },
      { deadlineMs: BUILD_DEADLINE_MS },
    ),
  )
  const recalled = await steps.run('recall a condensed result', () => recallOne(engine, session, built))
  const overview = await client.threads.get(thread)
  return {
    session: {
      source: options.file === undefined ? 'recorded' : session.file,
      format: session.format,
      messages: imported.messages,
      toolCalls: imported.toolCalls,
      toolResults: imported.toolResults,
      failedResults: session.messages.filter((message) => message.isError === true).length,
    },
    stored: { ...imported, tokens: overview.tokens },
    prunings: overview.prunings,
    compactions: overview.states.at(-1)?.generation ?? 0,
    summary: summaryOf(built),
    summaryCosts: overview.summaryCosts,
    context: {
      id: built.id,
      budget: built.budget,
      strategy: built.strategy,
      sections: built.receipt.sections,
      messages: built.messages.length,
      fates: fatesOf(built),
      tokensBefore: built.receipt.tokensRaw,
      tokensAfter: built.tokensUsed,
      notes: wentOn === null ? built.receipt.notes : [wentOn, ...built.receipt.notes],
    },
    recalled,
    where: {
      mode: engine.config.mode,
      project: engine.config.project,
      summarizer: wentOn === null ? engine.models.summarizer : 'extractive',
      wentOn,
      embedder: engine.models.embedder,
    },
    steps: steps.done,
  }
}

/** Recalls the longest tool result that the context shows in shortened form. */
async function recallOne(engine: Engine, session: PlannedThread, built: ContextResult): Promise<RecalledResult | null> {
  const originals = new Map(session.messages.map((message) => [message.id, message]))
  const shortened = built.receipt.entries
    .filter(({ mode }) => mode === 'condensed' || mode === 'stub' || mode === 'elided')
    .flatMap(({ reference, messageId, tokens, tokensRaw }) => {
      const original = messageId === undefined ? undefined : originals.get(messageId)
      if (reference === undefined || original?.role !== 'tool_result') return []
      return [{ reference, original, tokens, tokensRaw: tokensRaw ?? 0 }]
    })
    .sort((left, right) => right.tokensRaw - left.tokensRaw)
  const [chosen] = shortened
  if (chosen === undefined) return null
  const { content } = await engine.client.recall({
    ref: chosen.reference,
    thread: session.thread,
    maxTokens: limits.budgetTokensMax,
  })
  const expected = sha256(chosen.original.content)
  const received = sha256(content)
  return {
    reference: chosen.reference,
    tokensInContext: chosen.tokens,
    tokensRecalled: chosen.tokensRaw,
    bytes: Buffer.byteLength(content),
    sha256: received,
    identical: received === expected,
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
