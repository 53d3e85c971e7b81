import type { ShownItem } from './shown-item.js'

/** Separators between the words of a name are equivalent: `error-codes`, `error_codes` and "error codes" match. */
const BETWEEN_WORDS = /[\s_-]+/gu

/**
 * Whether a text names a rule or a reference, ignoring case. A name of several words, or with a digit or punctuation,
 * is matched anywhere; a single plain word, such as "style", means something else in most texts, so it counts only in
 * quotes, in backticks, or beside the word "rule" or "reference".
 */
export function namesItem(text: string, { type, name }: Pick<ShownItem, 'type' | 'name'>): boolean {
  const wanted = plain(name)
  if (wanted === '') return false
  const found = plain(text)
  return isPlainWord(wanted)
    ? isWithin(found, `${type} ${wanted}`) || isWithin(found, `${wanted} ${type}`) || isQuoted(found, wanted)
    : isWithin(found, wanted)
}

function plain(text: string): string {
  return text.toLowerCase().replace(BETWEEN_WORDS, ' ').trim()
}

function isPlainWord(name: string): boolean {
  return /^\p{L}+$/u.test(name)
}

const QUOTES = ['``', '""', "''", '“”', '**'] as const

function isQuoted(text: string, name: string): boolean {
  return QUOTES.some(([open = '', close = '']) => text.includes(`${open}${name}${close}`))
}

/** Whether the name occurs as a whole word. */
function isWithin(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    if (!isLetter(text[at - 1]) && !isLetter(text[at + name.length])) return true
  }
  return false
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character)
}
