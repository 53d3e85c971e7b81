import { type InstructionWords, LIMITED } from './takings-back.js'
import { isEqual } from './topic-words.js'

const LANGUAGE =
  /\bin (english|german|french|spanish|italian|portuguese|dutch|polish|russian|ukrainian|turkish|arabic|hindi|chinese|mandarin|japanese|korean|swedish|norwegian|danish|finnish|czech|greek|hebrew|vietnamese|thai|indonesian)\b/i
/** Words for the agent's own texts. */
const REPLYING = new Set(['answer', 'repli', 'reply', 'respond', 'speak', 'talk', 'write'])

/** Whether a later instruction cannot hold beside an earlier one: its opposite, or another language for all replies. */
export function isReplaced(earlier: InstructionWords, later: InstructionWords): boolean {
  if (earlier.wanted.size === 0) return false
  if (earlier.isProhibition !== later.isProhibition) {
    // Words behind the wanted ones may be an exception, as in "never use tabs (in YAML)".
    const isWhole = isEqual(later.topics, later.wanted) && !LIMITED.test(later.sentence)
    return isWhole && isEqual(earlier.wanted, later.wanted)
  }
  const [from, to] = [languageOf(earlier), languageOf(later)]
  return from !== null && to !== null && from !== to
}

/** The language that an instruction wants for all replies; null for any other instruction. */
export function languageOf({ sentence, isProhibition, wanted }: InstructionWords): string | null {
  if (isProhibition || wanted.size !== 2) return null
  const language = LANGUAGE.exec(sentence)?.[1]?.toLowerCase()
  const others = [...wanted].filter((word) => !REPLYING.has(word))
  return language !== undefined && others.length === 1 ? language : null
}
