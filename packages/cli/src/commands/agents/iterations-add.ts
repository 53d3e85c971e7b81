import type { NewIteration } from '@heddle/client/interface'
import { iterationInputSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { numeral, optionValue } from '../../options/option-values.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'
import { countOf, formatCount } from '../../output/table.js'

interface AddOptions extends CommonOptions, UrlOptions {
  readonly agent: string
  readonly file?: string
  readonly id?: string
  readonly number?: number
  readonly timestamp?: string
  readonly cli?: string
  readonly model?: string
  readonly prompt?: string
  readonly output?: string
  readonly score?: number
  readonly marker?: string[]
  readonly changed?: string[]
  readonly duration?: number
}

const { shape } = iterationInputSchema
const HINT = 'Correct the value, or omit the option.'
const collect = (text: string, before: string[] = []) => [...before, text]

export function registerIterationsAdd(group: Command, context: CommandContext): void {
  const add = group
    .command('add')
    .description('append iterations to a thread; adding the same ones again stores no duplicates')
    .argument('<thread>', 'the thread; created if it does not exist', nameOption('thread'))
    .requiredOption('--agent <name>', 'the agent that it belongs to; created if it does not exist', nameOption('agent'))
    .option('--file <path>', 'JSON lines, one iteration per line, instead of the options below')
    .option('--prompt <text>', 'what the model was asked', optionValue('prompt', shape.prompt, HINT))
    .option('--output <text>', 'what the model answered', optionValue('output', shape.output, HINT))
    .option(
      '--id <uuid>',
      'id of the iteration, so that adding it again stores no duplicate (default: a new one)',
      optionValue('id', shape.id, HINT),
    )
    .option(
      '--number <number>',
      'number of the iteration (default: the highest so far plus one)',
      optionValue('number', shape.iterationNumber.unwrap(), HINT, numeral),
    )
    .option(
      '--timestamp <time>',
      'when it ran (default: now)',
      optionValue('timestamp', shape.timestamp.unwrap(), HINT),
    )
    .option('--cli <name>', 'the CLI that ran', optionValue('cli', shape.cliUsed.unwrap(), HINT))
    .option('--model <name>', 'the model that answered', optionValue('model', shape.modelUsed.unwrap(), HINT))
    .option('--score <number>', 'progress score', optionValue('score', shape.progressScore.unwrap(), HINT, numeral))
    .option('--marker <text>', 'progress marker; may be repeated', collect)
    .option('--changed <path>', 'a file that was changed; may be repeated', collect)
    .option(
      '--duration <seconds>',
      'how long it took',
      optionValue('duration', shape.durationSeconds.unwrap(), HINT, numeral),
    )
  withCommonOptions(withUrlOption(add), [
    'heddle iterations add nightly --agent runner --prompt "fix the login" --output "done" --score 0.8',
    'heddle iterations add nightly --agent runner --file iterations.jsonl --json',
  ]).action((thread: string, options: AddOptions) => addIterations(context, thread, options))
}

async function addIterations(context: CommandContext, thread: string, options: AddOptions): Promise<void> {
  const iterations = await iterationsOf(context, thread, options)
  await withRemote(context, options, { stages: ['ingest'] }, async (client) => {
    const result = await client.iterations.append({ agent: options.agent, thread, iterations })
    context.printer.result({ thread, agent: options.agent, ...result }, () => [
      `thread ${safeText(thread)}: ${countOf(result.stored, 'iteration')} stored, ${formatCount(result.repeated)} repeated`,
    ])
  })
}

async function iterationsOf(context: CommandContext, thread: string, options: AddOptions): Promise<NewIteration[]> {
  const { file, prompt, output, id, number, timestamp, cli, model, score, marker, changed, duration } = options
  if (file !== undefined) {
    const beside = Object.entries({
      prompt,
      output,
      id,
      number,
      timestamp,
      cli,
      model,
      score,
      marker,
      changed,
      duration,
    })
    const given = beside.find(([, value]) => value !== undefined)
    if (given) throw new UsageError(given[0], 'cannot be combined with --file', undefined, 'Write it into the file.')
    const { projectIdOf, threadIdOf } = await import('@heddle/core')
    const { readIterations } = await import('../../importing/iterations-file.js')
    const threadId = threadIdOf(projectIdOf(configOf(context, options).project), thread)
    return await readIterations(file, { cwd: context.cwd, threadId })
  }
  if (prompt === undefined || output === undefined) {
    const field = prompt === undefined ? 'prompt' : 'output'
    throw new UsageError(field, 'is needed without --file', undefined, 'Give --prompt and --output, or --file.')
  }
  const fields = {
    id,
    iterationNumber: number,
    timestamp,
    cliUsed: cli,
    modelUsed: model,
    progressScore: score,
    progressMarkers: marker,
    fileChanges: changed,
    durationSeconds: duration,
  }
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return [{ prompt, output, ...given }]
}
