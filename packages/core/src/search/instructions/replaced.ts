import { isProhibition, wantedWords } from './takings-back.js'
import { isEqual } from './topic-words.js'

const LANGUAGE =
  /\bin (english|german|french|spanish|italian|portuguese|dutch|polish|russian|ukrainian|turkish|arabic|hindi|chinese|mandarin|japanese|korean|swedish|norwegian|danish|finnish|czech|greek|hebrew|vietnamese|thai|indonesian)\b/i
/** Words for the agent's own texts. */
const REPLYING = new Set(['answer', 'repli', 'reply', 'respond', 'speak', 'talk', 'write'])

/** Whether a later instruction cannot hold beside an earlier one: its opposite, or another language for all replies. */
export function isReplaced(earlier: string, later: string): boolean {
  const [before, after] = [wantedWords(earlier), wantedWords(later)]
  if (before.size === 0) return false
  if (isProhibition(earlier) !== isProhibition(later)) return isEqual(before, after)
  const [from, to] = [languageOf(earlier, before), languageOf(later, after)]
  return from !== null && to !== null && from !== to
}

/** The language that an instruction wants for all replies; null for any other instruction. */
function languageOf(instruction: string, words: ReadonlySet<string>): string | null {
  const language = LANGUAGE.exec(instruction)?.[1]?.toLowerCase()
  if (language === undefined || isProhibition(instruction)) return null
  const others = [...words].filter((word) => !REPLYING.has(word))
  return words.size === 2 && others.length === 1 ? language : null
}
