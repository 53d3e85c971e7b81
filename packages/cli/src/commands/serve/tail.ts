import { type EventTopic, eventTopics, type FollowedEvent } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { oneOf, wholeNumber } from '../../options/option-values.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'

interface TailOptions extends CommonOptions, UrlOptions {
  readonly agent?: string
  readonly thread?: string
  readonly topic?: EventTopic[]
  readonly after?: number
  readonly count?: number
}

const topicOption = oneOf('topic', eventTopics)

export function registerTail(program: Command, context: CommandContext): void {
  const tail = program
    .command('tail')
    .description('follow events as they happen: messages stored, threads compacted, contexts built, snapshots saved')
    .option('--agent <name>', 'only events of this agent', nameOption('agent'))
    .option('--thread <name>', 'only events of this thread', nameOption('thread'))
    .option(
      '--topic <name>',
      `only ${eventTopics.join(', ')}; may be repeated`,
      (text: string, before: readonly EventTopic[] = []) => [...before, topicOption(text)],
    )
    .option(
      '--after <number>',
      'start after this event number; 0 starts at the oldest event kept (default: new events only)',
      wholeNumber('after', 0, Number.MAX_SAFE_INTEGER, 'Give the number of an event, such as --after 0.'),
    )
    .option(
      '--count <events>',
      'stop after this many events (default: run until interrupted)',
      wholeNumber('count', 1, 1_000_000, 'Give a number of events, such as --count 10.'),
    )
  withCommonOptions(withUrlOption(tail), [
    'heddle tail --thread session',
    'heddle tail --agent coder --topic context.built --topic snapshot.saved',
    'HEDDLE_KEY=hdl_... heddle tail --url https://heddle.example --json',
  ])
    .addHelpText(
      'after',
      '\nWith --json each event is one line. Events contain names and ids, no message contents. Ctrl-C stops it.',
    )
    .action((options: TailOptions) => showEvents(context, options))
}

async function showEvents(context: CommandContext, options: TailOptions): Promise<void> {
  const { agent, thread, topic, after, count = Number.POSITIVE_INFINITY } = options
  await withRemote(context, options, { stages: [] }, async (client) => {
    const ending = new AbortController()
    const events = await client.events.follow({
      signal: AbortSignal.any([context.signal, ending.signal]),
      agent,
      thread,
      topics: topic,
      after,
    })
    context.printer.note('waiting for events')
    try {
      await context.printer.stream(lines(events, count, context.printer.json))
    } finally {
      ending.abort()
    }
  })
}

async function* lines(events: AsyncIterable<FollowedEvent>, count: number, json: boolean): AsyncGenerator<string> {
  let shown = 0
  for await (const event of events) {
    yield `${json ? JSON.stringify(event) : eventLine(event)}\n`
    shown += 1
    if (shown >= count) return
  }
}

function eventLine({ number, topic, threadId, thread, agent, subjectId, headSeq }: FollowedEvent): string {
  // An erased thread has no name any more, and older gateways send no names.
  const about = thread == null ? threadId : safeText(thread)
  return [
    String(number).padStart(8),
    topic.padEnd(16),
    ...(about === null ? [] : [`thread ${about}`]),
    ...(agent == null ? [] : [`agent ${safeText(agent)}`]),
    ...(subjectId === null ? [] : [`${topic.split('.')[0]} ${subjectId}`]),
    ...(headSeq === null ? [] : [`seq ${headSeq}`]),
  ].join('  ')
}
