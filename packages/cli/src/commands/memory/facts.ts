import { randomUUID } from 'node:crypto'
import type { FactsClient } from '@heddle/client/interface'
import {
  type ExtractedFacts,
  type Fact,
  type FactKind,
  factBodySchema,
  factKinds,
  factListSchema,
  idSchema,
  limits,
} from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { oneOf, optionValue, wholeNumber } from '../../options/option-values.js'
import { cursorOption, given, nameOption, type PageOptions } from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { emptyLines, formatCount, itemTable, type Line, moreLines } from '../../output/table.js'
import { clientCommand } from '../declared.js'

interface ListOptions extends CommonOptions, PageOptions {
  readonly thread?: string
  readonly subject?: string
  readonly predicate?: string
  readonly asOf?: string
  readonly query?: string
}

const TEXT_CHARACTERS = 60

const shape = factListSchema.shape
const wordsOption = (field: 'subject' | 'predicate' | 'query') =>
  optionValue(field, shape[field].unwrap(), `Give words, such as --${field} "response time".`)
const timeOption = (field: string) =>
  optionValue(field, shape.asOf.unwrap(), `Give a time with its zone, such as --${field} 2026-02-12T14:30:00Z.`)
const idOption = (field: string) =>
  optionValue(field, idSchema, 'Give the id of a fact, as heddle facts list --json shows it.')
const factsOption = wholeNumber(
  'limit',
  1,
  limits.factsPerPageMax,
  'Give the number of facts to show, such as --limit 50.',
)

const objectOption = optionValue('object', factBodySchema.shape.object, 'Give a text, such as "120 ms".')

const agentArgument = ['<agent>', 'the agent', nameOption('agent')] as const

/** `heddle facts list`, `put`, `correct` and `retract`. */
export function registerFacts(program: Command, context: CommandContext): void {
  const group = program
    .command('facts')
    .description('known facts of an agent and its threads, since when, and from where')
  clientCommand(group, context, {
    name: 'list',
    description: 'list facts, those recorded last first, or those for a question',
    arguments: [agentArgument],
    options: (command) =>
      command
        .option('--thread <name>', 'facts of this thread alone', nameOption('thread'))
        .option(
          '--subject <words>',
          'of this subject, in whatever order and form its words are',
          wordsOption('subject'),
        )
        .option('--predicate <words>', 'with this predicate', wordsOption('predicate'))
        .option('--as-of <time>', 'those that held at this time', timeOption('as-of'))
        .option(
          '--query <words>',
          'a question: best first, the newer of two values before the older',
          wordsOption('query'),
        )
        .option('--limit <count>', 'facts per page', factsOption)
        .addOption(cursorOption()),
    examples: ['heddle facts list coder --query "how long does the build take"', 'heddle facts list coder --json'],
    load: ({ facts }, { thread, subject, predicate, asOf, query, limit, cursor }: ListOptions, agent: string) =>
      facts.list(agent, given({ thread, subject, predicate, asOf, query, limit, cursor })),
    lines: ({ items, nextCursor }, { options: { cursor } }) =>
      items.length === 0
        ? emptyLines(cursor, 'facts', 'no fact is known')
        : [...factTable(items), ...moreLines(nextCursor)],
  })
  clientCommand(group, context, {
    name: 'extract',
    description: 'read facts from the typed words of people in a thread, by rules, and record them',
    arguments: [['<thread>', 'the thread', nameOption('thread')]],
    examples: ['heddle facts extract session'],
    notes: 'Messages that were read before add nothing.',
    load: ({ facts }, _: CommonOptions, thread: string) => extractAll(facts, thread),
    lines: ({ thread, messages, facts, added, extractor }) => [
      `${formatCount(messages)} messages of thread ${safeText(thread)} read by ${extractor}`,
      `${formatCount(facts)} facts, ${formatCount(added)} of them new`,
    ],
  })
  registerChanges(group, context)
}

interface PutOptions extends CommonOptions {
  readonly subject: string
  readonly predicate: string
  readonly kind?: FactKind
  readonly thread?: string
  readonly since?: string
  readonly until?: string
  readonly single?: true
  readonly negated?: true
}

interface CorrectOptions extends CommonOptions {
  readonly fact: string
}

function registerChanges(group: Command, context: CommandContext): void {
  clientCommand(group, context, {
    name: 'put',
    description: 'record a fact',
    arguments: [agentArgument, ['<object>', 'what is known', objectOption]],
    options: (command) =>
      command
        .requiredOption('--subject <words>', 'of what, such as "response time"', wordsOption('subject'))
        .requiredOption('--predicate <words>', 'such as "is" or "lives in"', wordsOption('predicate'))
        .option('--kind <kind>', factKinds.join(', '), oneOf('kind', factKinds))
        .option('--thread <name>', 'it holds in this thread alone', nameOption('thread'))
        .option('--since <time>', 'since when it holds (default: now)', timeOption('since'))
        .option('--until <time>', 'until when it held', timeOption('until'))
        .option('--single', 'a later value of the same subject and predicate replaces it')
        .option('--negated', 'the object is denied'),
    examples: ['heddle facts put coder "120 ms" --subject "response time" --predicate is --single'],
    load: (
      { facts },
      { subject, predicate, kind, thread, since: validFrom, until: validTo, single, negated }: PutOptions,
      agent: string,
      object: string,
    ) =>
      facts.put(agent, randomUUID(), {
        ...{ subject, predicate, object },
        ...given({ kind, thread, validFrom, validTo, single, negated }),
      }),
    lines: (fact) => [`recorded: ${lineOf(fact)}`, `id ${fact.id}`],
  })
  clientCommand(group, context, {
    name: 'correct',
    description: 'record a fact in the place of one that was wrong',
    arguments: [agentArgument, ['<object>', 'what is right', objectOption]],
    options: (command) => command.requiredOption('--fact <id>', 'the fact that was wrong', idOption('fact')),
    examples: ['heddle facts correct coder "120 ms" --fact 0b7a2b0e-0000-4000-8000-000000000000'],
    load: ({ facts }, { fact }: CorrectOptions, agent: string, object: string) =>
      correct(facts, { agent, fact, object }),
    lines: (fact) => [`corrected: ${lineOf(fact)}`, `id ${fact.id}`],
  })
  clientCommand(group, context, {
    name: 'retract',
    description: 'retract a fact: it held at no time',
    arguments: [agentArgument, ['<fact>', 'its id', idOption('fact')]],
    examples: ['heddle facts retract coder 0b7a2b0e-0000-4000-8000-000000000000'],
    load: ({ facts }, _: CommonOptions, agent: string, fact: string) => facts.retract(agent, fact),
    lines: (fact) => [`retracted: ${lineOf(fact)}`],
  })
}

/** Reads page by page, until the end of the thread. */
async function extractAll(facts: FactsClient, thread: string): Promise<ExtractedFacts> {
  let all = await facts.extract(thread)
  while (all.nextSeq !== null) {
    const next = await facts.extract(thread, { afterSeq: all.nextSeq })
    const sum = { messages: all.messages + next.messages, facts: all.facts + next.facts, added: all.added + next.added }
    all = { ...next, ...sum }
  }
  return all
}

/** The same subject and predicate since the same time, with another object. */
async function correct(
  facts: FactsClient,
  { agent, fact, object }: { readonly agent: string; readonly fact: string; readonly object: string },
): Promise<Fact> {
  const { subject, predicate, kind, thread, single, negated, validFrom } = await facts.get(agent, fact)
  const body = { subject, predicate, object, kind, single, negated, validFrom, corrects: fact }
  return await facts.put(agent, randomUUID(), thread === null ? body : { ...body, thread })
}

function factTable(items: readonly Fact[]): Line[] {
  return itemTable(items, [
    { title: 'id', text: ({ id }) => id },
    { title: 'since', text: ({ validFrom }) => validFrom },
    { title: 'fact', text: (fact) => oneLine(lineOf(fact), TEXT_CHARACTERS) },
    { title: 'is', text: standingOf },
    { title: 'source', text: ({ sources }) => sources[0]?.reference ?? '-' },
  ])
}

function lineOf({ subject, predicate, object, negated }: Fact): string {
  return safeText(`${subject} · ${predicate} · ${negated ? 'not ' : ''}${object}`)
}

function standingOf({ retractedAt, supersededBy, validTo, conflictsWith }: Fact): string {
  if (retractedAt !== null) return 'retracted'
  if (supersededBy !== null) return 'replaced'
  if (conflictsWith.length > 0) return 'in conflict'
  return validTo === null ? 'current' : `until ${validTo}`
}
