import { idSchema, type ProxiedRequest, type ProxiedRequestView, type ViewedEntry } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { optionValue } from '../../options/option-values.js'
import { nameOption, type PageOptions, withPageOptions } from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { formatCount, type ItemColumn, itemTable, type Line, moreLines } from '../../output/table.js'
import { clientCommand, listCommand } from '../declared.js'

const requestIdOption = optionValue('id', idSchema, 'Give the id of a request, as heddle proxy requests shows it.')

export function registerProxyRequests(group: Command, context: CommandContext): void {
  listCommand(group, context, {
    name: 'requests',
    description: 'list relayed requests, newest first: what was received, sent and paid',
    options: (command) => command.option('--thread <name>', 'only those of this thread', nameOption('thread')),
    examples: ['heddle proxy requests', 'heddle proxy requests --thread session --limit 20 --json'],
    load: ({ proxy }, { thread, limit, cursor }: PageOptions & CommonOptions & { readonly thread?: string }) =>
      proxy.requests({ ...(limit !== undefined && { limit }), thread, cursor }),
    items: 'requests',
    none: () => 'no relayed requests yet',
    columns,
  })
  clientCommand(group, context, {
    name: 'show',
    description: 'show a relayed request as it was received and as it was sent, entry by entry',
    arguments: [['<id>', 'the id that "proxy requests" lists, and that x-heddle-context had', requestIdOption]],
    options: withPageOptions,
    examples: [
      'heddle proxy show 01a215a3-7fc7-7778-bdd3-47dac89495a9',
      'heddle proxy show 01a215a3-7fc7-7778-bdd3-47dac89495a9 --limit 500 --json',
    ],
    notes:
      'Bodies are not stored. The entries are put together from the stored messages, with the texts that were sent in their\nplace; bytes and hashes are those of the bodies. --json has the texts.',
    load: ({ proxy }, { limit, cursor }: PageOptions & CommonOptions, id: string) =>
      proxy.request({ id, ...(limit !== undefined && { limit }), cursor }),
    lines: viewLines,
  })
}

const columns: readonly ItemColumn<ProxiedRequest>[] = [
  { title: 'id', text: ({ id }) => id },
  { title: 'at', text: ({ at }) => at },
  { title: 'thread', text: ({ thread }) => thread },
  { title: 'mode', text: ({ mode, isControl }) => (isControl ? `${mode}, control` : mode) },
  { title: 'passed', text: ({ passed }) => passed ?? '' },
  { title: 'received', count: ({ tokens }) => tokens.received },
  { title: 'sent', count: ({ tokens }) => tokens.sent },
  { title: 'cached', count: ({ tokens }) => tokens.cached },
  { title: 'recalls', count: ({ recalls }) => recalls },
  { title: 'cost', right: ({ costUsd }) => dollars(costUsd) },
  { title: 'direct', right: ({ directCostUsd }) => dollars(directCostUsd) },
]

function viewLines(view: ProxiedRequestView): Line[] {
  const { request, received, sent, cover, head, items } = view
  const { tokens } = request
  const facts = [
    `request ${request.id} of thread ${safeText(request.thread)}, ${safeText(request.model)}`,
    `mode ${request.mode} by ${request.modeSource}${request.passed === null ? '' : `; passed: ${safeText(request.passed)}`}; epoch ${request.epoch}; ${request.reasons.map(safeText).join(', ')}`,
    `received ${formatCount(tokens.received)} tokens, sent ${formatCount(tokens.sent)}, of which the cache had ${formatCount(tokens.cached)} (estimated)`,
    `cost ${dollars(request.costUsd)}, unchanged ${dollars(request.directCostUsd)} (estimated)`,
    ...(request.recalls === 0
      ? []
      : [`recalls ${formatCount(request.recalls)}, which cost ${dollars(request.recallCostUsd)} of it`]),
  ]
  if (received === null || sent === null) return [...facts, '', 'Its entries were not recorded.']
  return [
    ...facts,
    `received ${formatCount(received.bytes)} bytes, SHA-256 ${received.sha256}`,
    ...(sent.sha256 === received.sha256
      ? ['sent as it came']
      : [`sent     ${formatCount(sent.bytes)} bytes, SHA-256 ${sent.sha256}`]),
    ...(head === null ? [] : head.fields.map(({ name, bytes }) => `${safeText(name)}: ${formatCount(bytes)} bytes`)),
    ...(cover === null
      ? []
      : [
          `entries ${cover.from} to ${cover.to - 1} were sent as a summary of ${formatCount(cover.tokensAfter)} tokens instead of ${formatCount(cover.tokensBefore)}`,
        ]),
    '',
    ...itemTable(items, entryColumns),
    ...moreLines(view.nextCursor),
    '',
    'Put together from stored messages; the bodies are not kept.',
  ]
}

const TEXT_CHARACTERS = 50

const entryColumns: readonly ItemColumn<ViewedEntry>[] = [
  { title: '#', right: ({ index }) => String(index) },
  { title: 'entry', text: ({ kind }) => kind },
  { title: 'sent as', text: ({ sentAs }) => sentAs },
  { title: 'received', count: ({ tokens }) => tokens.received },
  { title: 'sent', count: ({ tokens }) => tokens.sent },
  { title: 'reference', text: ({ messages }) => messages[0]?.reference ?? '' },
  { title: 'text', text: (entry) => oneLine(textOf(entry), TEXT_CHARACTERS) },
]

function textOf({ messages }: ViewedEntry): string {
  return messages
    .map(({ state, content, toolCalls = [] }) =>
      state === 'stored' ? [content, ...toolCalls.map(({ name }) => `→ ${name}`)].join(' ') : `(${state})`,
    )
    .join(' ')
}

function dollars(usd: number | null): string {
  return usd === null ? '-' : `$${usd.toFixed(4)}`
}
