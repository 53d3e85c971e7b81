import type { Candidate } from '../speech/sections.js'
import { countTokens } from '../tokens/tokens.js'
import type { NameIndex } from './name-index.js'
import { baseName, namesIn } from './names.js'
import type { Subject } from './subjects.js'

/** Names per line, and lines per file: nobody reads longer lists. */
const NAMES_A_LINE_MAX = 12
const LINES_A_FILE_MAX = 5
const LINES_ELSEWHERE_MAX = 3
/** Exponent of a name's weight: a name of twice the weight is needed far more than twice as often. */
const POWER = 2
/** Tokens per name beside its own: the comma, and its share of the surrounding words. */
const NAME_TOKENS = 1.3
/** Maximum number of names in a summary, per token available. */
const NAMES_A_TOKEN = 0.5
/** Label for names that belong to no file. */
const ELSEWHERE = 'outputs of commands'
/** Label for files without a line of their own. */
const FILES = 'other files that were read or found'

export interface NameLinesRequest {
  readonly index: NameIndex
  /** Messages of the conversation. */
  readonly length: number
  /** Names that other lines already contain. */
  readonly told: ReadonlySet<string>
  readonly tokensMax: number
}

/** The names of one file that no other line contains, by the function in whose lines they occur. */
interface Group {
  readonly label: string
  readonly subject: Subject | null
  readonly names: string[]
  readonly weight: number
  readonly place: number
}

/**
 * Search terms for continuing the work: the weightiest names that no other line contains, by the file that each belongs
 * to most and the function that uses them. They are separate from the lines that describe actions.
 */
export function nameLines({ index, length, told, tokensMax }: NameLinesRequest): Candidate[] {
  const wanted = [...index.homes()]
    .filter(([name]) => !told.has(name))
    .map(([name, homes]) => ({ name, homes, weight: index.weight(name, length) }))
    .sort((left, right) => right.weight - left.weight || (left.name < right.name ? -1 : 1))
    .slice(0, Math.ceil(tokensMax * NAMES_A_TOKEN))
    .map((each) => ({ ...each, tokens: countTokens(each.name) + NAME_TOKENS }))
    .sort((left, right) => right.weight ** POWER / right.tokens - left.weight ** POWER / left.tokens)
  const groups = new Map<string, Group>()
  let left = tokensMax
  for (const { name, homes, weight, tokens } of wanted) {
    const file = homes.find(({ kind }) => kind === 'file') ?? null
    const isFile = file !== null && baseName(file.label) === name
    const subject = isFile ? null : file
    const label = isFile ? FILES : subject ? baseName(subject.label) : ELSEWHERE
    const group = groups.get(label)
    const cost = tokens + (group ? 0 : countTokens(label) + 6)
    if (cost > left || namesIn(label).has(name)) continue
    const linesMax = subject ? LINES_A_FILE_MAX : LINES_ELSEWHERE_MAX
    if (group && group.names.length >= NAMES_A_LINE_MAX * linesMax) continue
    left -= cost
    if (group) group.names.push(name)
    else groups.set(label, { label, subject, names: [name], weight, place: homes[0]?.place ?? 0 })
  }
  // A file whose names are listed needs no second mention.
  return [...groups.values()].flatMap((group) =>
    linesOf(group.label === FILES ? { ...group, names: group.names.filter((name) => !groups.has(name)) } : group),
  )
}

function linesOf({ label, subject, names, weight, place }: Group): Candidate[] {
  const line = (text: string): Candidate => ({ section: 'names', text, score: weight, place, reference: '' })
  const byScope = new Map<string, string[]>()
  for (const name of names) {
    const scope = subject?.scopes.get(name) ?? ''
    byScope.set(scope, [...(byScope.get(scope) ?? []), name])
  }
  const scoped = [...byScope].filter(([scope, group]) => scope !== '' && group.length > 1)
  const alone = names.filter((name) => !scoped.some(([scope, group]) => scope === name || group.includes(name)))
  const clauses = [
    ...scoped.map(([scope, group]) => ({ words: `${scope} works with`, names: group })),
    ...(alone.length === 0 ? [] : [{ words: wordsFor(label, scoped.length > 0), names: alone }]),
  ]
  const lines: string[] = []
  let count: number = NAMES_A_LINE_MAX
  for (const { words, names: own } of clauses) {
    for (let from = 0; from < own.length; ) {
      const isNew = count >= NAMES_A_LINE_MAX
      if (isNew) count = 0
      const part = own.slice(from, from + NAMES_A_LINE_MAX - count)
      from += part.length
      count += part.length
      const clause = `${words} ${part.join(', ')}`.trimStart()
      const before = lines.at(-1)
      if (isNew || before === undefined) lines.push(`${label}: ${clause}`)
      else lines[lines.length - 1] = `${before}; ${clause}`
    }
  }
  return lines.map(line)
}

/** The words that connect a label with its list of names. */
function wordsFor(label: string, hasScopes: boolean): string {
  if (label === FILES) return ''
  if (label === ELSEWHERE) return 'names in them are'
  return hasScopes ? 'other names in it are' : 'names in it are'
}
