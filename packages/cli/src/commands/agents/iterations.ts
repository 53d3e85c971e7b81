import type { RunState } from '@heddle/client/interface'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { nameOption, type OrderOptions, withOrderOption } from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'
import { clientCommand, listCommand } from '../declared.js'
import { registerIterationsAdd } from './iterations-add.js'

const EXCERPT_CHARACTERS = 60
const SCORE_DIGITS = 3

export function registerIterations(program: Command, context: CommandContext): void {
  const group = program.command('iterations').description('record and list the iterations of an autonomous run')
  registerIterationsAdd(group, context)
  listCommand(group, context, {
    name: 'list',
    description: 'page through the iterations of a thread; --json includes their full texts',
    arguments: [['<thread>', 'the thread', nameOption('thread')]],
    options: withOrderOption,
    examples: ['heddle iterations list nightly', 'heddle iterations list nightly --order desc --limit 5 --json'],
    load: ({ iterations }, { order, limit, cursor }: OrderOptions, thread: string) =>
      iterations.list(thread, { order, limit, cursor }),
    items: 'iterations',
    none: () => 'no iterations yet',
    columns: [
      { title: 'iteration', count: ({ iterationNumber }) => iterationNumber },
      { title: 'time', text: ({ timestamp }) => timestamp },
      { title: 'cli', text: ({ cliUsed }) => cliUsed ?? '-' },
      { title: 'score', right: ({ progressScore }) => scoreText(progressScore) },
      { title: 'prompt', text: ({ prompt }) => oneLine(prompt, EXCERPT_CHARACTERS) },
      { title: 'output', text: ({ output }) => oneLine(output, EXCERPT_CHARACTERS) },
    ],
  })
  clientCommand(group, context, {
    name: 'loop',
    description: "show the state of a thread's run and the summary of its older iterations",
    arguments: [['<thread>', 'the thread', nameOption('thread')]],
    examples: ['heddle iterations loop nightly', 'heddle iterations loop nightly --json'],
    load: async ({ iterations }, _: CommonOptions, thread: string) => ({ thread, ...(await iterations.loop(thread)) }),
    lines: ({ thread, ...loop }) => loopLines(thread, loop),
  })
}

function scoreText(score: number | null): string {
  return score === null ? '-' : String(Number(score.toFixed(SCORE_DIGITS)))
}

function loopLines(thread: string, loop: RunState): string[] {
  const { goal, totalIterations, startTime, currentCli, currentModel, iterations, summary } = loop
  const newest = iterations.at(-1)
  const window = newest === undefined ? 'none' : `${iterations[0]?.iterationNumber}-${newest.iterationNumber}`
  return [
    `thread ${safeText(thread)}: ${goal === null ? 'no goal' : safeText(goal)}`,
    `iterations ${formatCount(totalIterations)}, since ${startTime ?? '-'}, in full ${window}`,
    `cli ${safeText(currentCli ?? '-')} · model ${safeText(currentModel ?? '-')}`,
    ...(summary === null
      ? ['no summary yet']
      : [
          `summary of ${summary.coveredFrom}-${summary.coveredTo} · version ${formatCount(summary.version)} · ${formatCount(summary.tokens)} tokens · by ${safeText(summary.summarizer)}`,
          '',
          ...summary.text.split('\n').map(safeText),
        ]),
  ]
}
