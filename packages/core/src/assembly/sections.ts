import type { Settings } from '@heddle/contracts'
import type { NeutralMessage } from '../formats/neutral-message.js'
import { withinAllocation } from './allocation.js'
import { blockSections } from './block-sections.js'
import { factSections } from './fact-sections.js'
import type { BuildInput } from './input.js'
import { itemSections } from './item-sections.js'
import { ledgerSections } from './ledger-section.js'
import { memorySection } from './memory-section.js'
import type { FixedSection, SectionName } from './section.js'
import { othersStatus, ownStatus } from './status.js'
import type { PlacedTool } from './tools.js'

/** Items that belong to the thread. Tools are sent beside the messages, not among them. */
const heldSections = ['rules', 'references', 'tools'] as const

/** Memory blocks, facts and the ledger change with each compaction, and so follow all that seldom changes. */
const opening = ['system-prompt', 'docs', ...heldSections, 'blocks', 'facts', 'ledger'] as const

/** Changes since the last compaction. */
const changing = ['block-changes', 'fact-changes'] as const

/**
 * Section orders. In `cache-stable` the sections that seldom change come first, so that a provider's prompt cache can
 * reuse them; in `status-first` the status precedes the history.
 */
export const sectionOrder: Readonly<Record<Settings['sections']['order'], readonly SectionName[]>> = {
  'cache-stable': [...opening, 'history', ...changing, 'selected', 'memories', 'status', 'message'],
  'status-first': [...opening, 'status', 'history', ...changing, 'selected', 'memories', 'message'],
}

/** Sections that can differ at each request; caching what follows them is useless. */
const volatile: readonly SectionName[] = [...changing, 'selected', 'memories', 'status', 'message']

/** The sections around the history, in order. */
export interface Arranged {
  readonly before: readonly FixedSection[]
  readonly after: readonly FixedSection[]
  /**
   * Number of messages before the history that are the same at each request. If some of them change, the history is not
   * part of the stable prefix.
   */
  readonly stable: number
}

export function arrange(sections: readonly FixedSection[], { settings }: BuildInput): Arranged {
  const order = sectionOrder[settings.sections.order]
  const historyAt = order.indexOf('history')
  const moving = sections.filter(({ isVolatile }) => isVolatile)
  const placed = order.map((name) =>
    name === 'history' ? moving : sections.filter((section) => section.name === name && !section.isVolatile),
  )
  const before = placed.slice(0, historyAt).flat()
  const volatileAt = before.findIndex(({ name }) => volatile.includes(name))
  const stable = volatileAt < 0 ? before : before.slice(0, volatileAt)
  return { before, after: placed.slice(historyAt).flat(), stable: messagesIn(stable).length }
}

export function messagesIn(sections: readonly FixedSection[]): NeutralMessage[] {
  return sections.flatMap((section) => section.messages)
}

export function toolsIn(sections: readonly FixedSection[]): PlacedTool[] {
  return sections.flatMap(({ tools = [] }) => tools)
}

/** The sections that no strategy shortens. The thread status changes often, so it follows the history. */
export function fixedSections(input: BuildInput): FixedSection[] {
  return wholeSections(input).map((section) => withinAllocation(section, input))
}

function wholeSections(input: BuildInput): FixedSection[] {
  const { agent, request } = input
  const status = ownStatus(input)
  const others = othersStatus(input)
  const { held, selected } = itemSections(input)
  const recalled = memorySection(input)
  return [
    {
      name: 'system-prompt',
      messages: agent.systemPrompt === '' ? [] : [{ role: 'system', content: agent.systemPrompt }],
      reason: `the system prompt of agent version ${agent.version}`,
    },
    {
      name: 'docs',
      messages: agent.docs.map((doc) => ({ role: 'user', content: `Document "${doc.name}":\n\n${doc.text}` })),
      reason: `a doc of agent version ${agent.version}`,
    },
    ...held,
    ...blockSections(input),
    ...factSections(input),
    ...ledgerSections(input),
    ...selected,
    ...(recalled === null ? [] : [recalled]),
    {
      name: 'status',
      messages: status === null ? [] : [{ role: 'user', content: status }],
      reason: 'the subject of the thread and its status',
    },
    ...(others === null ? [] : [othersSection(others)]),
    {
      name: 'message',
      messages: request.message === undefined ? [] : [{ role: 'user', content: request.message }],
      reason: 'the message of the request',
    },
  ]
}

function othersSection(content: string): FixedSection {
  const reason = 'activity of other threads of the agent'
  return { name: 'status', messages: [{ role: 'user', content }], reason, isOptional: true }
}
