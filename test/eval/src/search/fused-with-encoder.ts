import { type NearDocument, sourceOf, type VectorWeights } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import type { ConversationKind, Question } from './conversation.js'
import { ENCODER_MODEL, encode } from './encoder.js'
import { figuresOf } from './figures.js'
import { judgeOffline } from './held-out.js'
import { type Judged, shares } from './judge.js'
import { byWords, OfflineAgent, type OfflineSearch } from './offline.js'
import { readConversations } from './read.js'

/** Nearest messages by vectors that count, as in a search that is not narrowed. */
const NEAREST = 200
const UNKNOWN_WORDS = 0.3
const ALWAYS = [0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8]
const GAIN_LEAST = 0.03

type Vectors = ReadonlyMap<string, Float32Array>

const kinds = ['locomo', 'beam'] as const

/** Words fused with the vectors of a real encoder, weighed by all other conversations of both kinds, each the same. */
export async function measureFusedWithEncoder(dataDir: string): Promise<Measured[]> {
  const read = await Promise.all(kinds.map((kind) => readConversations(dataDir, kind)))
  const agents = read.flat().map((conversation) => new OfflineAgent(conversation))
  const vectors = await encode(agents.flatMap(textsOf))
  const tried = agents.map((agent) => tryWeights(agent, vectors))
  const chosen = tried.map((each) => bestIndex(tried.filter((other) => other !== each)))
  return kinds.flatMap((kind) => {
    const own = tried.flatMap((each, index) => (each.kind === kind ? [{ ...each, chosen: chosen[index] ?? 0 }] : []))
    const words = own.flatMap((each) => each.words)
    const fused = own.flatMap((each) => each.fused[each.chosen] ?? [])
    const weights = own.map((each) => ALWAYS[each.chosen]).join(' ')
    const note = `; vectors of ${ENCODER_MODEL}; weights chosen without the conversation: ${weights}`
    return [
      {
        name: `${kind}.encoder.gain`,
        value: shares(fused).any10 - shares(words).any10,
        unit: 'share',
        target: `>= ${GAIN_LEAST}`,
        note: `any@10 beside that of words${note}`,
      },
      ...figuresOf(`${kind}.encoder.fused`, fused, note),
      ...figuresOf(
        `${kind}.encoder.vectors`,
        own.flatMap((each) => each.vectors),
        `; vectors of ${ENCODER_MODEL}`,
      ),
    ]
  })
}

interface Tried {
  readonly kind: ConversationKind
  readonly words: readonly Judged[]
  readonly vectors: readonly Judged[]
  /** By the index of the weight. */
  readonly fused: readonly (readonly Judged[])[]
}

function tryWeights(agent: OfflineAgent, vectors: Vectors): Tried {
  const nearest = nearestOf(agent, vectors)
  return {
    kind: agent.conversation.kind,
    words: judgeOffline(agent, byWords),
    vectors: judgeOffline(agent, searchBy('meaning', { always: 1, unknownWords: 0 }, nearest)),
    fused: ALWAYS.map((always) =>
      judgeOffline(agent, searchBy('both', { always, unknownWords: UNKNOWN_WORDS }, nearest)),
    ),
  }
}

function textsOf({ conversation: { threads, questions } }: OfflineAgent): string[] {
  return [...questions.map(({ text }) => text), ...threads.flatMap(({ messages }) => messages.flatMap(chunksOf))]
}

function chunksOf({ role, content }: { role: Parameters<typeof sourceOf>[0]['role']; content: string }): string[] {
  return sourceOf({ seq: 1, role, keptAside: null, content })?.chunks.map(({ text }) => text) ?? []
}

function searchBy(by: 'meaning' | 'both', weights: VectorWeights, nearest: (question: Question) => NearDocument[]) {
  return { by, words: byWords.words, vectors: { model: ENCODER_MODEL, weights, nearest } } satisfies OfflineSearch
}

/** The nearest messages of a question, each by its nearest chunk. */
function nearestOf({ conversation }: OfflineAgent, vectors: Vectors): (question: Question) => NearDocument[] {
  const chunks = conversation.threads.flatMap(({ messages }, thread) =>
    messages.flatMap((message, index) =>
      chunksOf(message).map((text) => ({ thread: thread + 1, seq: index + 1, vector: vectors.get(text) })),
    ),
  )
  return ({ text }) => {
    const query = vectors.get(text) ?? new Float32Array()
    const best = new Map<string, NearDocument>()
    for (const { thread, seq, vector } of chunks) {
      const cosine = dot(query, vector ?? new Float32Array())
      const known = best.get(`${thread} ${seq}`)
      if (known === undefined || cosine > known.cosine) best.set(`${thread} ${seq}`, { thread, seq, cosine })
    }
    return [...best.values()].sort((left, right) => right.cosine - left.cosine).slice(0, NEAREST)
  }
}

function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0
  for (let at = 0; at < left.length; at++) sum += (left[at] as number) * (right[at] ?? 0)
  return sum
}

/** The weight that is best on some conversations, each kind counting the same. */
function bestIndex(others: readonly Tried[]): number {
  const quality = ALWAYS.map((_, index) =>
    kinds.reduce((sum, kind) => {
      const ofKind = others.filter((each) => each.kind === kind)
      const { any10, mrr } = shares(ofKind.flatMap(({ fused }) => fused[index] ?? []))
      return sum + any10 + mrr
    }, 0),
  )
  return quality.indexOf(Math.max(...quality))
}
