import type { SearchHit, SearchResult } from '@heddle/client/interface'
import {
  type SearchKind,
  type SearchLegs,
  type SearchOrder,
  searchKinds,
  searchLegs,
  searchOrders,
  searchRequestSchema,
} from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { oneOf, optionValue } from '../../options/option-values.js'
import { limitOption, momentOption, nameOption } from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { clientCommand } from '../declared.js'
import { searchNotes } from './archive-view.js'
import { explanationLines } from './explanation-lines.js'

interface SearchOptions extends CommonOptions {
  readonly agent?: string
  readonly thread?: string
  readonly kind?: SearchKind[]
  readonly path?: string
  readonly instructions?: boolean
  readonly since?: string
  readonly until?: string
  readonly from?: string
  readonly to?: string
  readonly sort?: SearchOrder
  readonly explain?: boolean
  readonly limit?: number
  readonly by?: SearchLegs
}

const { shape } = searchRequestSchema
const queryOption = optionValue('query', shape.query, 'Give words, such as heddle search "connection refused".')
const kindOption = oneOf('kind', searchKinds)
const pathOption = optionValue('path', shape.path.unwrap(), 'Give a file or a folder, such as --path src/app.')

export function registerSearch(program: Command, context: CommandContext): void {
  clientCommand(program, context, {
    name: 'search',
    description:
      'find messages by words and by meaning, best first, in a thread, the threads of an agent, or the whole project',
    arguments: [['<query>', 'words in any order; identifiers and paths match whole and in parts', queryOption]],
    options: (command) =>
      command
        .option('--agent <name>', 'only threads of this agent', nameOption('agent'))
        .option('--thread <name>', 'only this thread', nameOption('thread'))
        .option(
          '--kind <name>',
          `only ${searchKinds.slice(0, -1).join(', ')} or ${searchKinds.at(-1)}; may be repeated`,
          (text: string, before: readonly SearchKind[] = []) => [...before, kindOption(text)],
        )
        .option('--path <path>', 'only messages about this file, or about files in this folder', pathOption)
        .option('--instructions', 'only lasting instructions and preferences of people, such as "always use tabs"')
        .option('--since <moment>', 'only since then: how long ago, such as 1h, or a time', momentOption('since'))
        .option('--until <moment>', 'only before then', momentOption('until'))
        .option('--from <moment>', 'only about then or later: dates in the text count', momentOption('from'))
        .option('--to <moment>', 'only about an earlier time', momentOption('to'))
        .option('--sort <order>', `${searchOrders.join(' or ')} (default relevance)`, oneOf('sort', searchOrders))
        .option('--explain', 'say why each message has its place: passage, terms, vectors, time, neighbours')
        .option('--limit <count>', 'results to show (default 20)', limitOption)
        .option('--by <legs>', `${searchLegs.join(', ')} (default both)`, oneOf('by', searchLegs)),
    examples: [
      'heddle search "connection refused" --agent coder',
      'heddle search parseTokens --thread session --kind file_view --since 1h',
      'heddle search "why did we choose Postgres" --by meaning --json',
    ],
    load(
      client,
      {
        kind: kinds,
        agent,
        thread,
        path,
        instructions,
        since,
        until,
        from,
        to,
        limit,
        by,
        sort,
        explain,
      }: SearchOptions,
      query: string,
    ) {
      return client.search({
        query,
        agent,
        thread,
        kinds,
        path,
        instructions,
        since,
        until,
        from,
        to,
        limit,
        by,
        sort,
        explain,
      })
    },
    lines: resultLines,
  })
}

const TEXT_CHARACTERS_MAX = 300
const NEIGHBOUR_CHARACTERS_MAX = 100

/** The hits of a search for people, each between its neighbours. */
function resultLines({ items, ...how }: SearchResult): string[] {
  const none = 'no message was found; try other words or fewer conditions'
  return [
    ...(items.length === 0 ? [none] : items.flatMap((hit, index) => hitLines(hit, items, index))),
    ...searchNotes(how),
  ]
}

function hitLines(hit: SearchHit, hits: readonly SearchHit[], index: number): string[] {
  const { ref, thread, at, moment, kind, score, text, before, after, supersededBy, explanation } = hit
  const when = at.slice(0, 19).replace('T', ' ')
  const about = moment === at ? '' : ` · about ${moment.slice(0, 10)}`
  const beside = ({ role, text: said }: NonNullable<SearchHit['before']>) =>
    `    ${role}: ${oneLine(said, NEIGHBOUR_CHARACTERS_MAX)}`
  const newer = hits.find(({ messageId }) => messageId === supersededBy)
  return [
    ...(index === 0 ? [] : ['']),
    `${shortReference(ref)} · ${safeText(thread)} · ${when}${about} · ${kind} · ${score.toFixed(1)}`,
    ...(before === null ? [] : [beside(before)]),
    `  > ${oneLine(text, TEXT_CHARACTERS_MAX)}`,
    ...(after === null ? [] : [beside(after)]),
    ...(supersededBy === null ? [] : [`    replaced since by ${shortReference(newer?.ref ?? supersededBy)}`]),
    ...(explanation === null ? [] : explanationLines(explanation)),
  ]
}

function shortReference(ref: string): string {
  return ref.split('/').at(-1) ?? ''
}
