import { HeddleError } from '@heddle/contracts'
import {
  canonicalJson,
  chunkText,
  countTokens,
  estimateTokens,
  excerpt,
  excerptsOf,
  fingerprint,
  finish,
  nthMatch,
  parseLineRange,
  parseLocation,
  parseReference,
  pathTerms,
  queryTerms,
  redactSecrets,
  searchLines,
  selectLines,
  slugOf,
  snapshotFileName,
  termsOf,
  truncateMatches,
  truncateToTokens,
  usedItems,
} from '@heddle/core'
import { createHashingEmbedder } from '@heddle/models'
import { oneLine as cliOneLine, safeLine, safeText } from '../../packages/cli/src/output/safe-text.js'
import { describeReceived } from '../../packages/contracts/src/primitives/redact-input.js'
import { summaryFault } from '../../packages/core/src/compaction/check-summary.js'
import { readCode } from '../../packages/core/src/extractive/code.js'
import { addEdit, noEdits, readText } from '../../packages/core/src/extractive/edits.js'
import { namesIn } from '../../packages/core/src/extractive/names.js'
import { previousGoal, previousLines } from '../../packages/core/src/extractive/previous.js'
import { reasonIn } from '../../packages/core/src/extractive/reasons.js'
import { refusalIn } from '../../packages/core/src/extractive/refusals.js'
import { hasBrokenText, isMediaText, isObjectText } from '../../packages/core/src/formats/rules.js'
import { isBlank, trimTrailing } from '../../packages/core/src/formats/texts.js'
import { namesItem } from '../../packages/core/src/items/named-in-text.js'
import { memoryQuery } from '../../packages/core/src/memories/memory.js'
import { readSlot } from '../../packages/core/src/parts/slots.js'
import { errorLine, firstMeaningfulLine, summarizeInOneLine } from '../../packages/core/src/prune/one-line.js'
import { topSymbols } from '../../packages/core/src/prune/symbols.js'
import { prefixWithinTokens } from '../../packages/core/src/recall/truncate.js'
import { cuesOf } from '../../packages/core/src/speech/cues.js'
import { slashCommandIn, withoutInjected, withoutUserBlocks } from '../../packages/core/src/speech/injected.js'
import { readRequest } from '../../packages/core/src/speech/request-log.js'
import { requestWords, withoutCopied } from '../../packages/core/src/speech/request-words.js'
import { requestedPlanIn } from '../../packages/core/src/speech/requested-plan.js'
import { sentencesOf, speechOf } from '../../packages/core/src/speech/sentences.js'
import { contentWordsIn, substanceOf } from '../../packages/core/src/speech/substance.js'
import { continuationIn, userSpeechIn } from '../../packages/core/src/speech/user-speech.js'
import { holdsFact } from '../../packages/core/src/summarizing/pinned.js'
import { elideMiddle } from '../../packages/core/src/summarizing/sources.js'
import { tokenWeights } from '../../packages/core/src/tokens/token-weights.js'
import { describeToolCall } from '../../packages/core/src/tools/catalog.js'
import { readCommandLine } from '../../packages/core/src/tools/command-line.js'
import { countLines, firstLines, isOnlySigns, lastLines, oneLine } from '../../packages/core/src/tools/lines.js'
import { patchedPaths } from '../../packages/core/src/tools/patches.js'
import { normalizePath } from '../../packages/core/src/tools/paths.js'
import { withoutProtocol } from '../../packages/core/src/tools/protocol.js'
import { describeToolResult } from '../../packages/core/src/tools/results.js'
import { describeCommand } from '../../packages/core/src/tools/shell.js'
import { shellWrites } from '../../packages/core/src/tools/shell-writes.js'
import { countWords } from '../../packages/models/src/embed/words.js'
import { cleaned, withinTokens } from '../../packages/models/src/summarize/fold-text.js'
import { deflateJson, deflateLines } from '../../packages/store/src/sql/packing.js'
import { decodeText, encodeText, toStorable } from '../../packages/store/src/sql/text.js'
import type { Pass } from './measure.js'

const TOKENS_MAX = 2_000
const CALLS = {
  view: { id: 'c', name: 'Read', arguments: { file_path: '/repo/src/app.ts' } },
  edit: { id: 'c', name: 'Edit', arguments: { file_path: '/repo/src/app.ts', old_string: 'a', new_string: 'b' } },
  bash: { id: 'c', name: 'Bash', arguments: { command: 'npm test' } },
  grep: { id: 'c', name: 'Grep', arguments: { pattern: 'name', path: 'src' } },
  other: { id: 'c', name: 'other', arguments: {} },
} as const

const uses = Object.fromEntries(Object.entries(CALLS).map(([kind, call]) => [kind, describeToolCall(call)]))

/** Passes that throw refuse the text: their time until then counts. */
const ofText =
  (run: (text: string) => unknown): Pass =>
  (text) =>
  () => {
    try {
      return run(text)
    } catch (error) {
      if (error instanceof HeddleError) return undefined
      throw error
    }
  }

const ofLines = (run: (lines: string[]) => unknown): Pass => ofText((text) => run(text.split('\n')))

const results = Object.entries(uses).flatMap(([kind, use]) => [
  [`result of ${kind}`, ofText((text) => describeToolResult(use, text, false))] as const,
  [
    `one line of ${kind}`,
    ofText((text) => summarizeInOneLine(text, use, describeToolResult(use, text, false))),
  ] as const,
  [
    `one line of failed ${kind}`,
    ofText((text) => summarizeInOneLine(text, use, describeToolResult(use, text, true))),
  ] as const,
])

const item = { type: 'rule' as const, name: 'style' }

const embedder = createHashingEmbedder()
const half = (text: string) => text.slice(0, text.length / 2)

const edit = (removed: string, added: string) =>
  addEdit(noEdits(), 'src/app.ts', { from: readText(removed), to: readText(added), reason: null })

/** Every pass over one text, wherever it occurs. */
export const textPasses: Readonly<Record<string, Pass>> = {
  'tokens: exact': ofText(countTokens),
  'tokens: estimated': ofText(estimateTokens),
  'tokens: weights': ofText(tokenWeights),
  'tokens: prefix': ofText((text) => prefixWithinTokens(text, TOKENS_MAX)),
  'tokens: long prefix': ofText((text) => prefixWithinTokens(text, text.length)),
  chunks: ofText(chunkText),
  'words: terms': ofText((text) => {
    let count = 0
    for (const term of termsOf(text)) count += term.length
    return count
  }),
  'words: query': ofText((text) => queryTerms(text)),
  'words: excerpt': ofText((text) => finish(excerpt(text, new Set(['the', 'name'])))),
  'words: of a path': ofText(pathTerms),
  'words: of the hashing embedder': ofText(countWords),
  'vectors: hashing embedder': (text) => {
    const { textCharactersMax } = { textCharactersMax: 8_000 }
    const texts: string[] = []
    for (let from = 0; from < text.length; from += textCharactersMax)
      texts.push(text.slice(from, from + textCharactersMax) || ' ')
    return () => (texts.length === 0 ? undefined : embedder.embed(texts))
  },
  secrets: ofText(redactSecrets),
  'protocol marks': ofText(withoutProtocol),
  'fault of a summary': ofText((text) => summaryFault(text, { tokensMax: 1e9, replacedTokens: 0 })),
  'pinned fact': ofText((text) => holdsFact(text, { text: half(text), reference: '' })),
  'middle elided': ofText((text) => elideMiddle(text, 8_000)),
  'summary cleaned': ofText(cleaned),
  'summary within tokens': ofText((text) => withinTokens(text, TOKENS_MAX)),
  'speech of a user': ofText(userSpeechIn),
  continuation: ofText(continuationIn),
  'injected blocks': ofText(withoutInjected),
  'blocks of a user': ofText(withoutUserBlocks),
  'slash command': ofText(slashCommandIn),
  speech: ofText(speechOf),
  sentences: ofText(sentencesOf),
  'names in a text': ofText(namesIn),
  cues: ofText(cuesOf),
  request: ofText(readRequest),
  'words of a request': ofText(requestWords),
  'copied words': ofText(withoutCopied),
  'requested plan': ofText(requestedPlanIn),
  substance: ofText(substanceOf),
  'words of content': ofText(contentWordsIn),
  'lines of a summary': ofText(previousLines),
  'goal of a summary': ofText(previousGoal),
  reason: ofText(reasonIn),
  refusal: ofText(refusalIn),
  'names of code': ofText(readCode),
  edit: ofText((text) => edit(half(text), text.slice(text.length / 2))),
  'edit of a text to itself': ofText((text) => edit(text, `${text}x`)),
  'command line': ofText(readCommandLine),
  'command described': ofText(describeCommand),
  'files written by a command': ofText(shellWrites),
  'paths of a patch': ofText(patchedPaths),
  'normal path': ofText((text) => normalizePath(text, '/repo')),
  'one line': ofText((text) => oneLine(text, Number.POSITIVE_INFINITY)),
  'first lines': ofText((text) => firstLines(text, Number.POSITIVE_INFINITY)),
  'last lines': ofText((text) => lastLines(text, Number.POSITIVE_INFINITY)),
  'count of lines': ofText(countLines),
  'only signs': ofText(isOnlySigns),
  'error line': ofText(errorLine),
  'meaningful line': ofText(firstMeaningfulLine),
  'symbols of code': ofLines((lines) => topSymbols(lines, 'app.ts')),
  'symbols of a document': ofLines((lines) => topSymbols(lines, 'app.md')),
  'symbols of a configuration': ofLines((lines) => topSymbols(lines, 'app.yaml')),
  ...Object.fromEntries(results),
  'recall: lines': ofText((text) => finish(selectLines(text, '5-1000000'))),
  'recall: search': ofText((text) => finish(searchLines(text, 'e'))),
  'recall: search of a missing text': ofText((text) => finish(searchLines(text, text.slice(0, 999)))),
  'recall: third match': ofText((text) => finish(nthMatch(text, 1_000_000))),
  'recall: truncated': ofText((text) => finish(truncateToTokens(text, TOKENS_MAX))),
  'recall: truncated little': ofText((text) => finish(truncateToTokens(text, text.length))),
  'recall: matches': ofText((text) => {
    const { matches, matchCount } = finish(searchLines(text, text.slice(0, 1)))
    const excerpts = excerptsOf(matches, text.slice(0, 1))
    return finish(truncateMatches(excerpts, { matches, matchCount, lastLine: 1 }, TOKENS_MAX))
  }),
  'recall: line range': ofText(parseLineRange),
  'reference parsed': ofText(parseReference),
  'location parsed': ofText(parseLocation),
  fingerprint: ofText(fingerprint),
  'canonical json': ofText((text) => canonicalJson({ text, list: text.split(' ') })),
  'media text': ofText(isMediaText),
  'broken text': ofText((text) => hasBrokenText({ text })),
  'object text': ofText(isObjectText),
  'blank text': ofText(isBlank),
  'trailing white space': ofText(trimTrailing),
  'slot read': ofText(readSlot),
  'query of memories': ofText(memoryQuery),
  'item named': ofText((text) => namesItem(text, item)),
  'item named after its text': ofText((text) => namesItem(text, { type: 'rule', name: text.slice(0, 50) })),
  'items used': ofText((text) =>
    usedItems(
      { contextId: 'c', asked: [text], items: [{ ...item, itemId: 'i', serverName: '', text }] },
      { role: 'assistant', content: text, toolCalls: [] },
    ),
  ),
  slug: ofText((text) => slugOf(text, 'otherwise')),
  'file name of a snapshot': ofText((description) =>
    snapshotFileName({ id: '00000000-0000-7000-8000-000000000000', createdAtMs: 0, description }),
  ),
  'received value described': ofText(describeReceived),
  'store: text as bytes and back': ofText((text) => decodeText(encodeText(text))),
  'store: storable text': ofText(toStorable),
  'store: json packed': ofText((text) => deflateJson(JSON.stringify(text))),
  'store: lines packed': ofText(deflateLines),
  'terminal: text': ofText(safeText),
  'terminal: line': ofText(safeLine),
  'terminal: one line': ofText((text) => cliOneLine(text, 200)),
}
