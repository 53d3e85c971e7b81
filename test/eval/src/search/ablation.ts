import { defaultSettings, type SearchLegs, type Settings } from '@heddle/contracts'

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

const without = { neighbours: [], thread: 0, speaker: 0, replies: 1, names: 1, times: 0 }

/** The ranking with one part left out, with words alone, or with the vector weight of a semantic model. */
export const everyPart: readonly Variant[] = [
  { name: 'words.without-neighbours', by: 'words', search: words({ neighbours: [] }) },
  { name: 'words.without-the-thread', by: 'words', search: words({ thread: 0 }) },
  { name: 'words.without-the-speaker', by: 'words', search: words({ speaker: 0 }) },
  { name: 'words.without-the-side', by: 'words', search: words({ replies: 1 }) },
  { name: 'words.without-names', by: 'words', search: words({ names: 1 }) },
  { name: 'words.without-times', by: 'words', search: words({ times: 0 }) },
  { name: 'words.words-alone', by: 'words', search: words(without) },
  { name: 'vectors.without-neighbours', by: 'meaning', search: words({ neighbours: [] }) },
  { name: 'fused.always-0.1', by: 'both', search: vectors({ always: 0.1 }) },
  { name: 'fused.always-0.2', by: 'both', search: vectors({ always: 0.2 }) },
]
