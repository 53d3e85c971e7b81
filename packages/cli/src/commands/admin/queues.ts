import { type PoolWork, type StageBehind, type StageName, stageNames } from '@heddle/contracts'
import type { Engine } from '@heddle/host'
import type { StageStats } from '@heddle/queue'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { withEngine } from '../../connect/with-engine.js'
import { oneOf } from '../../options/option-values.js'
import { limitOption, withCommonOptions } from '../../options/options.js'
import { oneLine } from '../../output/safe-text.js'
import { formatCount, formatDuration, type ItemColumn, itemTable } from '../../output/table.js'

const actions = ['retry', 'redrive', 'pause', 'resume'] as const
type Action = (typeof actions)[number]

interface QueuesOptions extends CommonOptions {
  readonly stage?: StageName
  readonly limit: number
}

const LIMIT_DEFAULT = 100
const LETTERS_SHOWN = 10

export function registerQueues(program: Command, context: CommandContext): void {
  const queues = program
    .command('queues')
    .description(
      'show waiting, running and failed jobs; wake lagging threads, redrive dead letters, pause and resume stages',
    )
    .argument('[action]', actions.join(', '), oneOf('action', actions))
    .option('--stage <name>', `one stage: ${stageNames.join(', ')} (default all)`, oneOf('stage', stageNames))
    .option('--limit <count>', 'most threads or dead letters to handle in one call', limitOption, LIMIT_DEFAULT)
  withCommonOptions(queues, [
    'heddle queues',
    'heddle queues redrive --stage summarize',
    'heddle queues pause --stage embed',
  ])
    .addHelpText(
      'after',
      '\n  retry    wake every thread with a lagging stage, including those put off after failures\n  redrive  run jobs again that failed permanently',
    )
    .action((action: Action | undefined, options: QueuesOptions) => runQueues(context, action, options))
}

async function runQueues(context: CommandContext, action: Action | undefined, options: QueuesOptions): Promise<void> {
  await withEngine(context, options, { stages: [] }, (engine) => {
    switch (action) {
      case undefined:
        return showQueues(context, engine, options)
      case 'retry':
        return retryThreads(context, engine, options)
      case 'redrive':
        return redriveLetters(context, engine, options)
      case 'pause':
      case 'resume':
        return switchStages(context, engine, action, options)
    }
  })
}

function selectionOf({ stage, limit }: QueuesOptions) {
  return { limit, stage }
}

async function showQueues(context: CommandContext, engine: Engine, options: QueuesOptions): Promise<void> {
  const { servedStages } = await import('@heddle/host')
  await engine.queues.requestReports()
  const [stats, letters, served, lagging] = await Promise.all([
    engine.queues.stats(),
    engine.client.deadLetters.list(selectionOf(options)),
    servedStages(engine.store, engine.config.queuePrefix),
    engine.client.stages.behind(),
  ])
  const isShown = ({ stage }: { readonly stage: StageName }) => options.stage === undefined || stage === options.stage
  const behind = lagging.items.filter((each) => isShown(each) && each.threads > 0)
  const shown = stats.filter(isShown)
  const stages = shown.map((each) => ({
    ...each,
    served: served.has(each.stage),
    deadLetters: letters.filter(({ stage }) => stage === each.stage).length,
  }))
  const document = {
    stages,
    behind,
    deadLetters: letters.map(({ id, stage, jobId, threadId, error, attempts, failedAt }) => ({
      id,
      stage,
      jobId,
      threadId,
      error,
      attempts,
      failedAt,
    })),
  }
  context.printer.result(document, () => [
    ...itemTable(stages, columns),
    ...(behind.length === 0 ? [] : ['', 'messages of this project that a stage has not reached:']),
    ...behind.map(behindText),
    ...(letters.length === 0 ? [] : ['', 'dead letters, newest first (heddle queues redrive runs them again):']),
    ...letters
      .slice(0, LETTERS_SHOWN)
      .map((letter) => `  ${letter.stage} ${letter.jobId}: ${letter.error.code} ${oneLine(letter.error.detail, 100)}`),
    ...(letters.length > LETTERS_SHOWN ? [`  and ${letters.length - LETTERS_SHOWN} more`] : []),
    ...(stages.every((stage) => stage.served)
      ? []
      : ['', 'stages without a worker make no progress; to start one: heddle up']),
  ])
}

function behindText({ stage, messages, threads, since, thread, failure }: StageBehind): string {
  const place = since === null ? '' : `, since ${since} in ${thread}`
  const reason = failure === null ? '' : `; failed for ${formatCount(failure.threads)}: ${oneLine(failure.error, 100)}`
  return `  ${stage}: ${formatCount(messages)} of ${formatCount(threads)} threads${place}${reason}`
}

type ShownStage = StageStats & { readonly served: boolean; readonly deadLetters: number }

const columns: readonly ItemColumn<ShownStage>[] = [
  { title: 'stage', text: ({ stage }) => stage },
  { title: 'waiting', count: ({ waiting }) => waiting },
  { title: 'active', count: ({ active }) => active },
  { title: 'delayed', count: ({ delayed }) => delayed },
  { title: 'failed', count: ({ failed }) => failed },
  { title: 'oldest wait', right: ({ oldestWaitMs }) => (oldestWaitMs === null ? '-' : formatDuration(oldestWaitMs)) },
  { title: 'done/s', right: ({ pool }) => (pool.perSecond === 0 ? '-' : pool.perSecond.toFixed(1)) },
  { title: 'each took', right: ({ pool }) => tookText(pool) },
  { title: 'dead letters', count: ({ deadLetters }) => deadLetters },
  { title: 'state', text: (stage) => (stage.paused ? 'paused' : workersOf(stage)) },
]

function tookText({ done, failed, tookMs }: PoolWork): string {
  const tries = done + failed
  return tries === 0 ? '-' : formatDuration(tookMs / tries)
}

/** Workers whose reports are late are still detected, by their connections. */
function workersOf({ pool, served }: ShownStage): string {
  if (pool.workers === 0) return served ? 'served' : 'no worker'
  return pool.workers === 1 ? '1 worker' : `${formatCount(pool.workers)} workers`
}

async function retryThreads(context: CommandContext, engine: Engine, options: QueuesOptions): Promise<void> {
  const { wakeLagging } = await import('@heddle/host')
  const woken = await wakeLagging(engine, options)
  context.printer.result({ woken }, () => [`${formatCount(woken)} stages of threads woken`])
}

async function redriveLetters(context: CommandContext, engine: Engine, options: QueuesOptions): Promise<void> {
  const { redriven, refused } = await engine.client.deadLetters.redrive(selectionOf(options))
  context.printer.result({ redriven, refused }, () => [
    `${formatCount(redriven)} dead letters sent to their queues again`,
    ...refused.map(({ jobId, reason }) => `not sent: ${jobId}: ${oneLine(reason, 120)}`),
  ])
}

async function switchStages(
  context: CommandContext,
  engine: Engine,
  action: 'pause' | 'resume',
  options: QueuesOptions,
): Promise<void> {
  const stages = options.stage === undefined ? stageNames : [options.stage]
  await Promise.all(stages.map((stage) => engine.queues[action](stage)))
  const done = action === 'pause' ? 'paused' : 'resumed'
  context.printer.result({ [done]: stages }, () => [`${done}: ${stages.join(', ')}`])
}
