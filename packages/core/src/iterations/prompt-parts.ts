import { sliceWhole } from '../tools/lines.js'
import { loopTokens } from './allocation.js'
import { prefixWithin } from './cut.js'
import { type Iteration, iterationCharacters } from './iteration.js'
import { EMPTY_OUTPUT } from './progress-request.js'

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
  readonly isCut: boolean
}

export function block(iteration: Iteration, charactersMax: number, count: (text: string) => number): Block {
  const head = `## Iteration ${iteration.number}\n`
  const output = iteration.output.trim() === '' ? EMPTY_OUTPUT : iteration.output
  const begun = sliceWhole(output, Math.min(charactersMax, iterationCharacters.outputMax))
  const own = part(head, begun, loopTokens.iterationMax, count)
  return { ...own, iteration, head, isCut: own.text !== output }
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
  return fitting.map(({ iteration, head, text, tokens, isCut }) => ({
    iteration,
    text: `${head}${tokens <= cap ? text : prefixWithin(text, cap, count)}`,
    isCut: isCut || tokens > cap,
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
