import { defaultSettings, type SearchLegs, type Settings } from '@heddle/contracts'
import type { Measured } from '@heddle/test-support/figure'
import { type Judged, judge, shares } from './judge.js'
import type { ClientWith } from './measure.js'
import type { Conversation } from './read.js'

type Search = Settings['search']

interface Variant {
  readonly name: string
  readonly by: SearchLegs
  readonly search: Partial<Search>
}

function words(changed: Partial<Search['words']>): Partial<Search> {
  return { words: { ...defaultSettings.search.words, ...changed } }
}

function vectors(changed: Partial<Search['vectors']>): Partial<Search> {
  return { vectors: { ...defaultSettings.search.vectors, ...changed } }
}

/** The ranking with one part left out, with words alone, or with the vector weight of a semantic model. */
export const everyPart: readonly Variant[] = [
  { name: 'words.without-neighbours', by: 'words', search: words({ neighbours: [] }) },
  { name: 'words.without-the-thread', by: 'words', search: words({ thread: 0 }) },
  { name: 'words.without-the-speaker', by: 'words', search: words({ speaker: 0 }) },
  { name: 'words.words-alone', by: 'words', search: words({ neighbours: [], thread: 0, speaker: 0 }) },
  { name: 'vectors.without-neighbours', by: 'meaning', search: words({ neighbours: [] }) },
  { name: 'fused.always-0.1', by: 'both', search: vectors({ always: 0.1 }) },
  { name: 'fused.always-0.2', by: 'both', search: vectors({ always: 0.2 }) },
]

/** The candidate weights. */
const GRID = [0, 0.02, 0.05, 0.1, 0.2]

/**
 * Whether the weight of vectors depends on the conversations used to choose it: it is chosen on all conversations but
 * one, by any@10 and MRR, and measured on that one, for each in turn.
 */
export async function measureHeldOut(
  clientWith: ClientWith,
  conversations: readonly Conversation[],
): Promise<Measured[]> {
  const tried: { weight: number; judged: readonly Judged[] }[] = []
  for (const weight of GRID) {
    const client = clientWith(vectors({ always: weight }))
    tried.push({ weight, judged: await judge(client, conversations, 'both') })
  }
  const held: Judged[] = []
  const chosen: number[] = []
  for (const { agent } of conversations) {
    const quality = ({ judged }: (typeof tried)[number]) => {
      const { any10, mrr } = shares(judged.filter((each) => each.agent !== agent))
      return any10 + mrr
    }
    const best = tried.reduce((left, right) => (quality(right) > quality(left) ? right : left))
    chosen.push(best.weight)
    held.push(...best.judged.filter((each) => each.agent === agent))
  }
  return Object.entries(shares(held)).map(([figure, value]) => ({
    name: `locomo.fused.held-out.${figure}`,
    value,
    unit: 'share',
    note: `weights that vectors always have, chosen without the conversation that is measured: ${chosen.join(', ')}`,
  }))
}
