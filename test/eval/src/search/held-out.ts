import type { Conversation } from './conversation.js'
import { type Judged, judged, shares } from './judge.js'
import { byWords, type OfflineAgent, type OfflineSearch } from './offline.js'

type Words = OfflineSearch['words']

/** Weights that are tried, one part at a time, from the defaults on. */
const GRID: readonly { readonly [Part in keyof Words]?: Words[Part] }[] = [
  ...[[], [0.3, 0.1], [0.4, 0.15], [0.6, 0.25]].map((neighbours) => ({ neighbours })),
  ...[0, 0.2, 0.5].map((thread) => ({ thread })),
  ...[1, 3].map((speaker) => ({ speaker })),
  ...[0.35, 0.7, 1].map((replies) => ({ replies })),
  ...[1, 1.3, 2].map((names) => ({ names })),
  ...[0, 0.1, 0.4].map((times) => ({ times })),
]

export function judgeOffline(agent: OfflineAgent, search: OfflineSearch): Judged[] {
  const { agent: name, questions } = agent.conversation
  return questions.map((question) => judged(name, question, agent.search(question, search)))
}

interface HeldOut {
  readonly judged: readonly Judged[]
  /** The chosen weights by agent, as they differ from the defaults. */
  readonly chosen: readonly string[]
}

/**
 * Whether weights depend on the conversations that they were chosen by: for each conversation in turn the weights are
 * chosen on all others, of all kinds, and measured on that one. Each kind counts the same in the choice.
 */
export function heldOut(
  agents: readonly OfflineAgent[],
  measured: readonly OfflineAgent[],
  base: OfflineSearch = byWords,
): HeldOut {
  const tried = [{}, ...GRID].map((changed) => {
    const search = { ...base, words: { ...base.words, ...changed } }
    return { changed, byAgent: new Map(agents.map((agent) => [agent, judgeOffline(agent, search)])) }
  })
  const results = measured.map((agent) => {
    const others = agents.filter((other) => other !== agent)
    const quality = ({ byAgent }: (typeof tried)[number]) => meanOfKinds(others, byAgent)
    const best = tried.reduce((left, right) => (quality(right) > quality(left) ? right : left))
    return { judged: best.byAgent.get(agent) ?? [], changed: JSON.stringify(best.changed) }
  })
  return { judged: results.flatMap((each) => each.judged), chosen: results.map(({ changed }) => changed) }
}

function meanOfKinds(agents: readonly OfflineAgent[], byAgent: ReadonlyMap<OfflineAgent, readonly Judged[]>): number {
  const kinds = new Map<Conversation['kind'], Judged[]>()
  for (const agent of agents) {
    const { kind } = agent.conversation
    kinds.set(kind, [...(kinds.get(kind) ?? []), ...(byAgent.get(agent) ?? [])])
  }
  const qualities = [...kinds.values()].map((all) => {
    const { any10, mrr } = shares(all)
    return any10 + mrr
  })
  return qualities.reduce((sum, quality) => sum + quality, 0) / qualities.length
}
