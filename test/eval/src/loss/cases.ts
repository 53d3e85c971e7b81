import { type Message, messageReference, readConversation, type SummarySource, summarySources } from '@heddle/core'
import { conversationOf, conversationSteps } from '@heddle/test-support/samples/conversations'
import fc from 'fast-check'
import { toMessage } from '../messages.js'
import { readSessions } from '../sessions.js'

/** A compaction: what it covers, and what stays raw beside its summary. */
export interface Case {
  readonly name: string
  readonly kind: 'real' | 'cut' | 'generated'
  readonly covered: readonly Message[]
  readonly sources: readonly SummarySource[]
  readonly shown: readonly Message[]
  /** The agent's own summary of the same messages; null for a compaction that it did not make. */
  readonly agentSummary: string | null
}

/** As the default strategy leaves them raw. */
const TOP = 5
const BOTTOM = 5
/** Messages between two cuts of a session. */
const EVERY = 120
const COVERED_MIN = 20
const GENERATED = 40
const STEPS_MAX = 120
/** Of the messages of people in a compaction, each that is counted as pinned. */
const PINNED_EVERY = 4

/** The compactions of agents in the recorded sessions, cuts of each session at many places, and generated conversations. */
export async function readCases(dataDir: string): Promise<Case[]> {
  const threads = await readSessions(dataDir)
  const recorded = threads.flatMap(({ thread, messages: given }) => {
    const messages = given.map(toMessage)
    return [...realOf(thread, messages), ...cutsOf(thread, messages)]
  })
  return [...recorded, ...generated()]
}

function realOf(thread: string, messages: readonly Message[]): Case[] {
  const boundaries = messages.flatMap(({ keptAside }, index) => (keptAside === 'compact-summary' ? [index] : []))
  return boundaries.map((at, index) => {
    const before = messages.slice(index === 0 ? 0 : (boundaries[index - 1] ?? 0) + 1, at)
    return caseOf(`${thread} at ${at}`, 'real', before, [], messages[at]?.content ?? '')
  })
}

function cutsOf(thread: string, messages: readonly Message[]): Case[] {
  const cuts: Case[] = []
  for (let end = EVERY; end <= messages.length; end += EVERY) {
    const { messages: seen, boundaries } = readConversation(messages.slice(0, end))
    const last = boundaries.findLastIndex((isLegal, index) => isLegal && index < seen.length - BOTTOM)
    const first = boundaries.findIndex((isLegal, index) => isLegal && index >= TOP - 1)
    if (last - first < COVERED_MIN) continue
    const shown = [...seen.slice(0, first + 1), ...seen.slice(last + 1)]
    cuts.push(caseOf(`${thread} cut at ${end}`, 'cut', seen.slice(first + 1, last + 1), shown, null))
  }
  return cuts
}

function generated(): Case[] {
  return fc.sample(conversationSteps(STEPS_MAX), { seed: 7, numRuns: GENERATED }).flatMap((steps, index) => {
    const { messages } = readConversation(conversationOf(steps))
    if (messages.length < COVERED_MIN) return []
    return [caseOf(`generated ${index}`, 'generated', messages.slice(0, -BOTTOM), messages.slice(-BOTTOM), null)]
  })
}

function caseOf(
  name: string,
  kind: Case['kind'],
  covered: readonly Message[],
  shown: readonly Message[],
  agentSummary: string | null,
): Case {
  const { messages, pairs } = readConversation(covered)
  let people = 0
  const sources = summarySources(messages, pairs, ({ code }) => messageReference(code)).map((source) =>
    source.role === 'user' && ++people % PINNED_EVERY === 0 ? { ...source, pinned: true } : source,
  )
  return { name, kind, covered: messages, sources, shown, agentSummary }
}
