import type { SummaryRequest, SummarySource } from '../speech/source.js'
import { oneLine, truncate } from '../tools/lines.js'
import { withoutProtocol } from '../tools/protocol.js'
import { type EmptyIterations, joinEmpty, readEmptyNote } from './empty-note.js'
import { type Iteration, truncateIteration } from './iteration.js'
import { lateProgress } from './progress-tag.js'

/** Characters of iterations that a summarizer reads at once, about 30,000 tokens; more are summarized in parts. */
const PART_CHARACTERS_MAX = 100_000
const LIST_ITEMS_MAX = 20
const LIST_ITEM_CHARACTERS_MAX = 200

/** Output of an empty iteration in a summarizer's input. */
export const EMPTY_OUTPUT = '(empty output)'

/** An iteration in a summarizer's input; its texts are cut as in a prompt. */
export function formatIteration(iteration: Iteration): string {
  const { prompt, output } = truncateIteration(iteration)
  const facts = [
    iteration.cliUsed,
    iteration.modelUsed,
    new Date(iteration.happenedAtMs).toISOString(),
    iteration.progressScore === null ? null : `score ${iteration.progressScore}`,
    iteration.durationSeconds === null ? null : `${iteration.durationSeconds} s`,
  ].flatMap((fact) => (fact === null ? [] : [oneLine(fact, LIST_ITEM_CHARACTERS_MAX)]))
  return [
    `## Iteration ${iteration.number} (${facts.join(', ')})`,
    ...(prompt.trim() === '' ? [] : [`Prompt: ${oneLine(prompt)}`]),
    ...listLine('Progress markers', iteration.progressMarkers),
    ...listLine('Changed files', iteration.fileChanges),
    'Output:',
    output.trim() === '' ? EMPTY_OUTPUT : output,
    ...restOf(iteration.output, output.length),
  ].join('\n')
}

/** The lines that a summarizer reads of an output beyond its cut. */
function restOf(whole: string, shownCharacters: number): string[] {
  if (whole.length <= shownCharacters) return []
  const told = lateProgress(whole, shownCharacters)
  return told === null ? ['[… the rest was left out …]'] : ['[… the rest was left out, but for this …]', told]
}

function listLine(name: string, items: readonly string[]): string[] {
  if (items.length === 0) return []
  const shown = items
    .slice(0, LIST_ITEMS_MAX)
    .map((item) => truncate(oneLine(item, 2 * LIST_ITEM_CHARACTERS_MAX), LIST_ITEM_CHARACTERS_MAX))
  const more = items.length > shown.length ? [`and ${items.length - shown.length} more`] : []
  return [`${name}: ${[...shown, ...more].join('; ')}`]
}

/**
 * The request to a summarizer that adds iterations to a progress summary: each is one source with the text of {@link
 * formatIteration}.
 */
export function progressRequest(
  iterations: readonly Iteration[],
  { previousSummary, tokensMax }: { previousSummary: string | null; tokensMax: number },
): SummaryRequest {
  return { purpose: 'progress', messages: iterations.map(sourceOf), previousSummary, tokensMax }
}

/** The iterations without output that a summary has to name: those of the request, and of the summary before it. */
export function emptyOf(iterations: readonly Iteration[], previousSummary: string | null): EmptyIterations {
  const numbers = iterations.filter(({ output }) => output.trim() === '').map(({ number }) => number)
  return joinEmpty(readEmptyNote(previousSummary ?? ''), numbers)
}

function sourceOf(iteration: Iteration): SummarySource {
  return {
    reference: '',
    role: 'assistant',
    text: withoutProtocol(formatIteration(iteration)),
    hasHeading: true,
    toolName: null,
    isError: false,
    pinned: false,
    orderedAtMs: iteration.happenedAtMs,
  }
}

/** Splits iterations into parts that are summarized in sequence, each with the summary of the earlier parts. */
export function progressParts(iterations: readonly Iteration[]): Iteration[][] {
  const parts: Iteration[][] = []
  let left = 0
  for (const iteration of iterations) {
    const size = formatIteration(iteration).length
    const part = parts.at(-1)
    if (part !== undefined && size <= left) {
      part.push(iteration)
      left -= size
    } else {
      parts.push([iteration])
      left = PART_CHARACTERS_MAX - size
    }
  }
  return parts
}
