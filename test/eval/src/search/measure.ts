import { tmpdir } from 'node:os'
import type { Client } from '@heddle/client/interface'
import { defaultSettings, type SearchLegs, type Settings } from '@heddle/contracts'
import { createEmbedders, type Embedder } from '@heddle/models'
import { createLogger, loadConfig, systemClock } from '@heddle/runtime'
import { closeLater } from '@heddle/test-support/closing'
import type { Measured } from '@heddle/test-support/figure'
import { openPipeline, settleThreads } from '../pipeline.js'
import { everyPart } from './ablation.js'
import { type Conversation, type ConversationKind, conversationKinds, type Question } from './conversation.js'
import { figuresByAbility, figuresOf, type Targets } from './figures.js'
import { heldOut } from './held-out.js'
import { type Judged, judged, RESULTS } from './judge.js'
import { byWords, OfflineAgent } from './offline.js'
import { readConversations } from './read.js'

const TARGETS: Readonly<Record<ConversationKind, Targets>> = {
  locomo: { any10: '>= 0.85', mrr: '>= 0.58' },
  beam: { any10: '>= 0.74', mrr: '>= 0.52', newer: '>= 0.8' },
  coding: {},
}
const TARGETS_BY_ABILITY = { event_ordering: { recall10: '>= 0.5' } }

/** Figures keep the names of the rankings' parts. */
const NAMES = { words: 'words', meaning: 'vectors', both: 'fused' } as const

export interface SearchMeasurement {
  readonly kind: ConversationKind
  /** Whether rankings with one part left out are measured, too. */
  readonly ablation: boolean
}

/** Asks the questions about conversations of one kind as searches of the whole pipeline, in the threads of their agents. */
export async function measureSearch(dataDir: string, { kind, ablation }: SearchMeasurement): Promise<Measured[]> {
  const conversations = await readConversations(dataDir, kind)
  const embedder = await openEmbedder()
  const { clientWith } = await openPipeline({}, embedder)
  await settleThreads(
    clientWith({}),
    conversations.flatMap(({ threads }) => threads),
  )
  const withSearch = (search: Partial<Settings['search']>) =>
    clientWith({ search: { ...defaultSettings.search, ...search } })
  const figures: Measured[] = []
  const words = await judge(withSearch({}), conversations, 'words')
  for (const by of ['words', 'meaning', 'both'] as const) {
    const all = by === 'words' ? words : await judge(withSearch({}), conversations, by)
    const note = noteOf(by, embedder)
    const pooled = figuresOf(`${kind}.${NAMES[by]}`, all, note, by === 'words' ? TARGETS[kind] : {})
    figures.push(...(by === 'both' ? besideWords(pooled, figures) : pooled))
    figures.push(...figuresByAbility(`${kind}.${NAMES[by]}`, all, note, by === 'words' ? TARGETS_BY_ABILITY : {}))
  }
  if (ablation) {
    for (const { name, by, search } of everyPart) {
      figures.push(
        ...figuresOf(`${kind}.${name}`, await judge(withSearch(search), conversations, by), noteOf(by, embedder)),
      )
    }
  }
  return [...figures, ...(await measureOffline(dataDir, kind, words))]
}

/** The pure ranking on all kinds of conversations: whether it is that of the pipeline, and with weights chosen by others. */
async function measureOffline(dataDir: string, kind: ConversationKind, words: readonly Judged[]): Promise<Measured[]> {
  const read = await Promise.all(conversationKinds.map((each) => readConversations(dataDir, each)))
  const agents = read.flat().map((conversation) => new OfflineAgent(conversation))
  const own = agents.filter(({ conversation }) => conversation.kind === kind)
  const { judged: held, chosen } = heldOut(agents, own)
  return [
    agreement(kind, own, words),
    ...figuresOf(
      `${kind}.words.held-out`,
      held,
      `; weights chosen without the conversation that is measured: ${chosen.join(' ')}`,
    ),
  ]
}

/** The share of questions whose answers have the same places in the pure ranking and through the whole pipeline. */
function agreement(kind: ConversationKind, agents: readonly OfflineAgent[], words: readonly Judged[]): Measured {
  const places = ({ agent, question: { text }, places }: Judged) =>
    JSON.stringify([agent, text, places.filter((place) => place < 10)])
  const found = new Set(words.map(places))
  const same = agents.flatMap((agent) => {
    const { agent: name, questions } = agent.conversation
    return questions.map((question) => places(judged(name, question, agent.search(question, byWords))))
  })
  return {
    name: `${kind}.words.agreement`,
    value: same.filter((each) => found.has(each)).length / words.length,
    unit: 'share',
    target: '>= 0.97',
    note: 'questions whose answers among the first 10 have the same places in the pure ranking and in the pipeline',
  }
}

async function judge(client: Client, conversations: readonly Conversation[], by: SearchLegs): Promise<Judged[]> {
  const all: Judged[] = []
  for (const { agent, threads, questions } of conversations) {
    for (const question of questions) {
      const until = untilOf(question, threads)
      const { items, degraded } = await client.search({ query: question.text, agent, limit: RESULTS, by, until })
      if (degraded !== null) throw new Error(`a search was not what is measured: ${degraded}`)
      all.push(
        judged(
          agent,
          question,
          items.map(({ sourceId }) => sourceId ?? ''),
        ),
      )
    }
  }
  return all
}

/** The time of the message before which a question was asked. */
function untilOf({ before }: Question, threads: Conversation['threads']): string | undefined {
  return before === undefined
    ? undefined
    : threads.find(({ thread }) => thread === before.thread)?.messages[before.index]?.sentAt
}

function noteOf(by: SearchLegs, { model }: Embedder): string {
  return { words: '', meaning: `; vectors of ${model}`, both: `; words and vectors of ${model}` }[by]
}

/** Fused results must not be worse than those of words alone. */
function besideWords(fused: readonly Measured[], figures: readonly Measured[]): Measured[] {
  return fused.map((figure) => {
    const ceiling = figures.find(({ name }) => name === figure.name.replace('.fused.', '.words.'))?.value
    return ceiling === undefined ? figure : { ...figure, ceiling, target: '>= 1' }
  })
}

/** The model that the environment names or that is on disk, as for any process of Heddle; otherwise the hashing embedder. */
async function openEmbedder(): Promise<Embedder> {
  const { embedder } = loadConfig({ env: process.env, cwd: tmpdir() })
  const opened = createEmbedders(embedder, {
    env: process.env,
    log: createLogger({ level: 'error', name: 'eval' }),
    clock: systemClock,
  })
  closeLater(() => opened.close())
  const { embedder: chosen, fault } = await opened.chosen()
  if (fault !== null) throw fault
  return chosen
}
