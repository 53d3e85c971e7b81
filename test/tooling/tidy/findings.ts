import type { Checkout, Script } from '../structure/checkout.js'
import { commentsOf } from '../structure/comments.js'
import { textsOf } from '../structure/texts.js'
import { reservedIn, wordRules } from '../structure/words.js'
import { crowdedFolders } from './crowded-folders.js'
import { deadLinks } from './links.js'
import { unnamedFiles } from './unnamed-files.js'

/** A longer line does not fit beside another file. */
const COMMENT_COLUMNS_MAX = 140

/** All findings of one rule. */
export interface Findings {
  /** The key of its ceiling. */
  readonly rule: string
  /** How to correct a finding. */
  readonly advice: string
  /** `path:line: what was found` */
  readonly places: readonly string[]
}

/** The findings of each rule, also of rules without findings. */
export function findingsIn(checkout: Checkout): readonly Findings[] {
  return [
    ...wordFindings(checkout),
    {
      rule: 'comment columns',
      advice: `break comment lines of more than ${COMMENT_COLUMNS_MAX} characters`,
      places: checkout.scripts.flatMap(longCommentLines),
    },
    {
      rule: 'crowded folders',
      advice: 'move a family of files into a folder of its own',
      places: crowdedFolders(checkout.paths),
    },
    {
      rule: 'dead links',
      advice: 'correct the path or the anchor',
      places: deadLinks(checkout).map(({ page, line, target }) => `${page}:${line}: ${target}`),
    },
    {
      rule: 'unnamed files',
      advice: 'link to the page, name the file where it is used, or delete it',
      places: unnamedFiles(checkout),
    },
  ]
}

function wordFindings(checkout: Checkout): readonly Findings[] {
  const places = new Map<string, string[]>(wordRules.map(({ name }) => [name, []]))
  for (const text of textsOf(checkout)) {
    for (const { rule, found } of reservedIn(text))
      places.get(rule.name)?.push(`${text.path}:${text.line}: ${text.kind}: ${found}`)
  }
  return wordRules.map(({ name, say }) => ({
    rule: `word ${name}`,
    advice: `say: ${say}`,
    places: places.get(name) ?? [],
  }))
}

export function longCommentLines(script: Script): readonly string[] {
  const lines = script.text.split('\n')
  return commentsOf(script).flatMap(({ position, end }) => {
    const first = script.text.slice(0, position).split('\n').length
    const last = script.text.slice(0, end).split('\n').length
    return lines
      .slice(first - 1, last)
      .flatMap((line, index) =>
        line.length > COMMENT_COLUMNS_MAX ? [`${script.path}:${first + index}: ${line.length} characters`] : [],
      )
  })
}
