/**
 * Porter's stemmer ("An algorithm for suffix stripping", 1980), with the two changes of his own later programs (`-bli`,
 * `-logi`): words of one family, such as "connected" and "connections", become one term. The stem need not be a word.
 *
 * @param word lower-case letters a to z; words of up to two letters are unchanged
 */
export function stem(word: string): string {
  if (word.length < 3) return word
  let stemmed = stripPlural(word)
  stemmed = stripPast(stemmed)
  if (/y$/.test(stemmed) && HAS_VOWEL.test(stemmed.slice(0, -1))) stemmed = `${stemmed.slice(0, -1)}i`
  stemmed = replaceSuffix(stemmed, DOUBLE_SUFFIXES)
  stemmed = replaceSuffix(stemmed, SINGLE_SUFFIXES)
  stemmed = stripLast(stemmed)
  return tidy(stemmed)
}

const CONSONANT = '[^aeiou]'
const VOWEL = '[aeiouy]'
const CONSONANTS = `${CONSONANT}[^aeiouy]*`
const VOWELS = `${VOWEL}[aeiou]*`
/** At least one, exactly one, and at least two changes from vowels to consonants: Porter's measure m. */
const MEASURE_OVER_0 = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}`)
const MEASURE_IS_1 = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}(${VOWELS})?$`)
const MEASURE_OVER_1 = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}${VOWELS}${CONSONANTS}`)
const HAS_VOWEL = new RegExp(`^(${CONSONANTS})?${VOWEL}`)
const ENDS_SHORT = new RegExp(`^${CONSONANTS}${VOWEL}[^aeiouwxy]$`)

/** The longest suffix in the table decides, even if the rest of the word is too short. */
const DOUBLE_SUFFIXES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ational: 'ate',
    ization: 'ize',
    iveness: 'ive',
    fulness: 'ful',
    ousness: 'ous',
    tional: 'tion',
    biliti: 'ble',
    entli: 'ent',
    ousli: 'ous',
    ation: 'ate',
    alism: 'al',
    aliti: 'al',
    iviti: 'ive',
    enci: 'ence',
    anci: 'ance',
    izer: 'ize',
    alli: 'al',
    ator: 'ate',
    logi: 'log',
    bli: 'ble',
    eli: 'e',
  }),
)
const SINGLE_SUFFIXES: ReadonlyMap<string, string> = new Map(
  Object.entries({ icate: 'ic', ative: '', alize: 'al', iciti: 'ic', ical: 'ic', ness: '', ful: '' }),
)
const LAST_SUFFIX =
  /^(.+?)(al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize)$|^(.+?[st])(ion)$/

const SUFFIX_CHARACTERS_MAX = 7

function stripPlural(word: string): string {
  if (/(?:ss|i)es$/.test(word)) return word.slice(0, -2)
  return /[^s]s$/.test(word) ? word.slice(0, -1) : word
}

function stripPast(word: string): string {
  if (word.endsWith('eed')) return MEASURE_OVER_0.test(word.slice(0, -3)) ? word.slice(0, -1) : word
  const [, root] = /^(.+?)(?:ed|ing)$/.exec(word) ?? []
  if (root === undefined || !HAS_VOWEL.test(root)) return word
  if (/(?:at|bl|iz)$/.test(root)) return `${root}e`
  if (/([^aeiouylsz])\1$/.test(root)) return root.slice(0, -1)
  return ENDS_SHORT.test(root) ? `${root}e` : root
}

function replaceSuffix(word: string, suffixes: ReadonlyMap<string, string>): string {
  for (let length = Math.min(SUFFIX_CHARACTERS_MAX, word.length - 1); length > 0; length--) {
    const replacement = suffixes.get(word.slice(-length))
    if (replacement === undefined) continue
    const root = word.slice(0, -length)
    return MEASURE_OVER_0.test(root) ? root + replacement : word
  }
  return word
}

function stripLast(word: string): string {
  const [, root, , ionRoot] = LAST_SUFFIX.exec(word) ?? []
  const stripped = root ?? ionRoot
  return stripped !== undefined && MEASURE_OVER_1.test(stripped) ? stripped : word
}

function tidy(word: string): string {
  let stemmed = word
  if (stemmed.endsWith('e')) {
    const root = stemmed.slice(0, -1)
    if (MEASURE_OVER_1.test(root) || (MEASURE_IS_1.test(root) && !ENDS_SHORT.test(root))) stemmed = root
  }
  return stemmed.endsWith('ll') && MEASURE_OVER_1.test(stemmed) ? stemmed.slice(0, -1) : stemmed
}
