import { type Checkout, type Script, sourcesOf } from './checkout.js'
import { circlesOf } from './circles.js'
import { docstringsOf, PARAPHRASE_RULE } from './docstrings.js'
import { type Import, importsOf } from './imports.js'
import { REPEATED_LINES_MIN, repeatsIn } from './repeats.js'
import { largestOf, sizesOf } from './sizes.js'
import { conditionalSpreads } from './spreads.js'
import { textKinds, textsOf } from './texts.js'
import { reservedIn, wordRules } from './words.js'

/** A line of the report: its subject, and figures by their names. */
export interface Figure {
  readonly figure: string
  readonly [name: string]: unknown
}

export function* figuresOf(checkout: Checkout): Generator<Figure> {
  const sources = sourcesOf(checkout)
  const imports = importsOf(checkout)
  for (const size of sizesOf(checkout)) yield { figure: 'size', ...size }
  for (const largest of largestOf(checkout)) yield { figure: 'largest', ...largest }
  yield* circleFigures(sources, imports)
  yield* scrapFigures(sources, imports)
  const docstrings = sources.flatMap(docstringsOf)
  const paraphrases = docstrings.filter(({ isParaphrase }) => isParaphrase)
  yield { figure: 'docstrings', count: docstrings.length, paraphrases: paraphrases.length, rule: PARAPHRASE_RULE }
  for (const { path, line, text } of paraphrases) yield { figure: 'paraphrase', place: `${path}:${line}`, text }
  yield {
    figure: 'conditional spreads',
    count: sources.reduce((total, script) => total + conditionalSpreads(script), 0),
  }
  for (const comparison of ['lines', 'shapes'] as const) {
    const repeats = repeatsIn(sources, comparison)
    const lines = repeats.reduce((total, repeat) => total + repeat.lines, 0)
    yield { figure: 'repeated blocks', same: comparison, linesMin: REPEATED_LINES_MIN, count: repeats.length, lines }
    for (const repeat of repeats) yield { figure: 'repeated block', same: comparison, ...repeat }
  }
  yield* wordFigures(checkout)
}

/** Circles among the sources: of loaded files, of loaded files and types, and of folders of one package. */
function* circleFigures(sources: readonly Script[], imports: readonly Import[]): Generator<Figure> {
  const folders = new Map(sources.map(({ path, folder }) => [path, folder]))
  const areas = new Map(sources.map(({ path, area }) => [path, area]))
  const among = imports.filter(({ from, to }) => folders.has(from) && folders.has(to))
  const folderEdges = among.flatMap(({ from, to }) => {
    const [one = '', other = ''] = [folders.get(from), folders.get(to)]
    return one === other || areas.get(from) !== areas.get(to) ? [] : [{ from: one, to: other }]
  })
  const kinds = {
    files: circlesOf(among.filter(({ isType }) => !isType)),
    'files and types': circlesOf(among),
    folders: circlesOf(folderEdges),
  }
  for (const [of, circles] of Object.entries(kinds)) {
    yield { figure: 'circles', of, count: circles.length, members: circles.flat().length }
    for (const circle of circles) yield { figure: 'circle', of, circle }
  }
}

/** The maximum length of a file that counts as mergeable into its importer. */
const SCRAP_LINES_MAX = 45

/** Small sources with a single importer, by package. */
function* scrapFigures(sources: readonly Script[], imports: readonly Import[]): Generator<Figure> {
  const importers = new Map<string, Set<string>>()
  const paths = new Set(sources.map(({ path }) => path))
  for (const { from, to } of imports) if (paths.has(from)) importers.set(to, (importers.get(to) ?? new Set()).add(from))
  const scraps = sources.filter(({ path, lines }) => lines <= SCRAP_LINES_MAX && importers.get(path)?.size === 1)
  yield { figure: 'small files with one importer', linesMax: SCRAP_LINES_MAX, count: scraps.length }
  for (const { path, lines } of scraps)
    yield { figure: 'small file', path, lines, importer: [...(importers.get(path) ?? [])].join() }
}

function* wordFigures(checkout: Checkout): Generator<Figure> {
  const counts = new Map(wordRules.map((rule) => [rule, new Map<string, number>(textKinds.map((kind) => [kind, 0]))]))
  for (const text of textsOf(checkout)) {
    for (const { rule } of reservedIn(text)) {
      const kinds = counts.get(rule)
      kinds?.set(text.kind, (kinds.get(text.kind) ?? 0) + 1)
    }
  }
  for (const [{ name }, kinds] of counts) {
    const all = [...kinds.values()].reduce((total, count) => total + count, 0)
    yield { figure: 'reserved word', word: name, all, ...Object.fromEntries(kinds) }
  }
}
