import { sliceWhole } from '../tools/lines.js'
import { loopTokens } from './allocation.js'
import { prefixWithin } from './cut.js'
import { type Iteration, iterationCharacters } from './iteration.js'
import { EMPTY_OUTPUT } from './progress-request.js'
import { lateProgress } from './progress-tag.js'

/** Minimum tokens of a part that is cut for the budget; if even these do not fit, the budget is too small. */
const CUT_TOKENS_MIN = 48
/** Tokens of the line breaks between two sections, and of joining two texts. */
export const JOIN_TOKENS = 3

/** A text of the prompt under its heading. */
export interface Part {
  readonly headTokens: number
  readonly text: string
  readonly tokens: number
}

/** A text cut to its cap, and the tokens of its heading. */
export function part(head: string, whole: string, tokensMax: number, count: (text: string) => number): Part {
  const text = prefixWithin(whole, tokensMax, count)
  return { headTokens: whole === '' ? 0 : count(head) + JOIN_TOKENS, text, tokens: count(text) }
}

export const floorOf = ({ tokens }: Part) => Math.min(tokens, CUT_TOKENS_MIN)
export const leastOf = (one: Part) => one.headTokens + floorOf(one)
export const headsOf = (parts: readonly Part[]) => parts.reduce((sum, { headTokens }) => sum + headTokens, 0)

interface Block extends Part {
  readonly iteration: Iteration
  readonly head: string
  /** The `<progress>` of an output whose shown beginning lacks it; otherwise empty. */
  readonly told: string
  readonly isCut: boolean
}

export function block(iteration: Iteration, charactersMax: number, count: (text: string) => number): Block {
  const head = `## Iteration ${iteration.number}\n`
  const output = iteration.output.trim() === '' ? EMPTY_OUTPUT : iteration.output
  const begun = sliceWhole(output, Math.min(charactersMax, iterationCharacters.outputMax))
  const late = lateProgress(output, begun.length)
  const told = late === null ? '' : `${LEFT_OUT}${late}`
  const own = part(head, begun, loopTokens.iterationMax - (told === '' ? 0 : count(told) + JOIN_TOKENS), count)
  const whole = `${own.text}${told}`
  return { ...own, text: whole, tokens: count(whole), iteration, head, told, isCut: own.text !== output }
}

const LEFT_OUT = '\n[…]\n'

/** The text of a block in fewer tokens: its `<progress>` stays as long as it fits, and its beginning is cut. */
function shortened(
  { text, told, iteration, tokens }: Block,
  tokensMax: number,
  count: (text: string) => number,
): string {
  if (tokens <= tokensMax) return text
  const progress = told === '' ? wholeProgress(iteration.output) : told
  if (progress === '') return prefixWithin(text, tokensMax, count)
  const begun = text.slice(0, text.length - told.length)
  const kept = prefixWithin(begun, tokensMax - count(progress) - JOIN_TOKENS, count)
  if (lateProgress(begun, kept.length) === null && told === '') return prefixWithin(begun, tokensMax, count)
  const whole = `${kept}${progress}`
  if (count(whole) <= tokensMax) return whole
  return prefixWithin(progress.slice(LEFT_OUT.length), tokensMax, count)
}

/** The `<progress>` of an output that is shown whole, as it follows a beginning of it. */
function wholeProgress(output: string): string {
  const told = lateProgress(output, 0)
  return told === null ? '' : `${LEFT_OUT}${told}`
}

/** The newest blocks of which at least the beginnings fit; the longest are reduced to one common size. */
export function fitBlocks(
  blocks: readonly Block[],
  roomTokens: number,
  count: (text: string) => number,
): { iteration: Iteration; text: string; isCut: boolean }[] {
  let first = blocks.length
  for (let least = 0; first > 0; first--) {
    const next = blocks[first - 1]
    if (next === undefined) break
    least += leastOf(next)
    if (least > roomTokens && first < blocks.length) break
  }
  const fitting = blocks.slice(first)
  const cap = commonCap(fitting, roomTokens - headsOf(fitting))
  return fitting.map((one) => ({
    iteration: one.iteration,
    text: `${one.head}${shortened(one, cap, count)}`,
    isCut: one.isCut || one.tokens > cap,
  }))
}

function commonCap(blocks: readonly Block[], roomTokens: number): number {
  let low = 0
  let high = Math.max(0, ...blocks.map(({ tokens }) => tokens))
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const size = blocks.reduce((sum, { tokens }) => sum + Math.min(tokens, middle), 0)
    if (size <= roomTokens) low = middle
    else high = middle - 1
  }
  return low
}
