import { tmpdir } from 'node:os'
import type { Client } from '@heddle/client/interface'
import { defaultSettings, type SearchLegs, type Settings } from '@heddle/contracts'
import { createEmbedders, type Embedder } from '@heddle/models'
import { createLogger, loadConfig, systemClock } from '@heddle/runtime'
import { closeLater } from '@heddle/test-support/closing'
import type { Measured } from '@heddle/test-support/figure'
import { openPipeline, settleThreads } from '../pipeline.js'
import { everyPart, measureHeldOut } from './ablation.js'
import { type Judged, judge, shares } from './judge.js'
import { type Conversation, readConversations } from './read.js'

const TARGETS: Readonly<Record<string, string>> = { any10: '>= 0.81', mrr: '>= 0.54' }

function notesOf({ model }: Embedder): Readonly<Record<SearchLegs, string>> {
  return { words: '', meaning: `; vectors of ${model}`, both: `; words and vectors of ${model}` }
}

/** A client of the same pipeline with another ranking. */
export type ClientWith = (search: Partial<Settings['search']>) => Client

/** Asks LoCoMo's questions as searches of the whole pipeline, in the threads of each conversation's agent. */
export async function measureSearch(dataDir: string, { ablation }: { ablation: boolean }): Promise<Measured[]> {
  const conversations = readConversations(dataDir)
  const embedder = await openEmbedder()
  const notes = notesOf(embedder)
  const { clientWith } = await openPipeline({}, embedder)
  await settleThreads(
    clientWith({}),
    conversations.flatMap(({ threads }) => threads),
  )
  const withSearch: ClientWith = (search) => clientWith({ search: { ...defaultSettings.search, ...search } })
  const figures: Measured[] = []
  const baselines: Record<string, number> = {}
  for (const by of ['words', 'meaning', 'both'] as const) {
    const judged = await judge(withSearch({}), conversations, by)
    const name = `locomo.${NAMES[by]}`
    const pooled = figuresOf(name, judged, by === 'words' ? TARGETS : {}, notes[by])
    if (by === 'words') for (const { name: of, value } of pooled) baselines[of.split('.').at(-1) ?? ''] = value
    figures.push(...pooled.map((figure) => (by === 'both' ? besideWords(figure, baselines) : figure)))
    figures.push(...byCategory(name, judged, notes[by]))
  }
  if (ablation) figures.push(...(await measureParts(withSearch, conversations, notes)))
  return figures
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

/** Figures keep the names of the rankings' parts. */
const NAMES = { words: 'words', meaning: 'vectors', both: 'fused' } as const

/** Fused results must not be worse than those of words alone. */
function besideWords(figure: Measured, baselines: Readonly<Record<string, number>>): Measured {
  const ceiling = baselines[figure.name.split('.').at(-1) ?? '']
  return ceiling === undefined ? figure : { ...figure, ceiling, target: '>= 1' }
}

async function measureParts(
  clientWith: ClientWith,
  conversations: readonly Conversation[],
  notes: ReturnType<typeof notesOf>,
): Promise<Measured[]> {
  const figures: Measured[] = []
  for (const { name, by, search } of everyPart) {
    const judged = await judge(clientWith(search), conversations, by)
    figures.push(...figuresOf(`locomo.${name}`, judged, {}, notes[by]))
  }
  return [...figures, ...(await measureHeldOut(clientWith, conversations))]
}

function figuresOf(
  name: string,
  judged: readonly Judged[],
  targets: Readonly<Record<string, string>>,
  note: string,
): Measured[] {
  return Object.entries(shares(judged)).map(([figure, value]) => ({
    name: `${name}.${figure}`,
    value,
    unit: 'share',
    ...(targets[figure] !== undefined && { target: targets[figure] }),
    note: `${judged.length} questions${note}`,
  }))
}

function byCategory(name: string, judged: readonly Judged[], note: string): Measured[] {
  const categories = [...new Set(judged.map(({ question }) => question.category))].sort()
  return categories.flatMap((category) => {
    const own = judged.filter(({ question }) => question.category === category)
    return figuresOf(`${name}.category${category}`, own, {}, note)
  })
}
