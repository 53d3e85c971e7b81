import { countNeutralMessage } from '../formats/index.js'
import type { NeutralMessage } from '../formats/neutral-message.js'
import { sliceWhole } from '../tools/lines.js'
import type { BuildInput } from './input.js'
import type { FixedSection } from './section.js'

const CUT_MARK = '\n[… cut to fit]'

/** A truncated tool is useless; these sections have their own limits. */
const bounded = [
  'message',
  'tools',
  'blocks',
  'block-changes',
  'facts',
  'fact-changes',
  'ledger',
  'selected',
  'memories',
] as const

function isBounded(name: FixedSection['name']): name is (typeof bounded)[number] {
  return bounded.some((one) => one === name)
}

/** Cuts the end of a section that is longer than its allocation. */
export function withinAllocation(section: FixedSection, input: BuildInput): FixedSection {
  const { allocations } = input.settings.sections
  const { name } = section
  const tokensMax = isBounded(name) ? undefined : allocations[name]
  if (tokensMax === undefined) return section
  const cost = (message: NeutralMessage) => countNeutralMessage(input.format, message, input.count)
  let left = tokensMax
  const messages: NeutralMessage[] = []
  for (const message of section.messages) {
    const fitting = cost(message) <= left ? message : cutTo(message, left, cost)
    if (fitting === null) break
    messages.push(fitting)
    left -= cost(fitting)
    if (fitting !== message) break
  }
  const isUncut = messages.length === section.messages.length && messages.at(-1) === section.messages.at(-1)
  if (isUncut) return section
  return { ...section, messages, reason: `${section.reason}; cut to its ${tokensMax} tokens`, isCut: true }
}

/** The longest prefix of a message that fits `tokens`; null when not even the truncation mark fits. */
function cutTo(
  message: NeutralMessage,
  tokensMax: number,
  cost: (message: NeutralMessage) => number,
): NeutralMessage | null {
  const cut = (characters: number) => ({ ...message, content: `${sliceWhole(message.content, characters)}${CUT_MARK}` })
  if (cost(cut(0)) > tokensMax) return null
  let [fits, exceeds] = [0, message.content.length]
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2)
    if (cost(cut(middle)) <= tokensMax) fits = middle
    else exceeds = middle
  }
  return cut(fits)
}
