import { isFileName, namesIn } from '../extractive/names.js'
import { oneLine } from '../tools/lines.js'

/*
 * Details with a form of their own, by which they are found in any text. Each expression takes time linear in the text: its
 * repetitions are bounded, or are of one class of characters that cannot begin the next match.
 */

const URL = /https?:\/\/[^\s"'<>()[\]{}`|\\]{3,500}/g
const PATH_WORD = /[\w@.~+/-]+/g
const PATH_CHARACTERS_MAX = 300

const UNITS =
  '%|percent|ns|µs|us|ms|s|sec(?:ond)?s?|min(?:ute)?s?|h|hours?|days?|weeks?|months?|years?|[kmgt]i?b|bytes?|bits?|[kmg]?hz|px|em|rem|pt|tokens?|messages?|characters?|chars?|lines?|files?|words?|tests?|cases?|rows?|requests?|calls?|times|retries|attempts?|threads?|workers?|users?|items?|entries|pages?|commits?|points?|usd|eur|dollars?|euros?|km|m|cm|mm|kg|g|mg|°c|°f'
const NUMBER = new RegExp(
  `(?<![\\w.,/:#-])(?:[$€£]\\s?\\d(?:[\\d.,]{0,13}\\d)?[kKmM]?(?![\\w])|\\d(?:[\\d.,]{0,13}\\d)?[\\s-]?(?:${UNITS})(?![\\p{L}\\p{N}_]))`,
  'giu',
)

export function urlsIn(text: string): string[] {
  return [...text.matchAll(URL)].map(([url]) => url.replace(/[.,;:!?*_]{1,5}$/, ''))
}

/** Paths and names of files in a text, without addresses. */
export function pathsIn(text: string): string[] {
  const paths: string[] = []
  for (const [word] of text.replace(URL, ' ').matchAll(PATH_WORD)) {
    const path = withoutEnd(word)
    if (path.length > PATH_CHARACTERS_MAX || path.length < 3) continue
    if (isFileName(lastSegment(path))) paths.push(path)
  }
  return paths
}

/** Lower-case and without spaces between the number and its unit, so that two spellings are the same. */
export function numbersIn(text: string): { readonly key: string; readonly text: string }[] {
  return [...text.matchAll(NUMBER)].map(([found]) => ({ key: numberKey(found), text: oneLine(found) }))
}

function numberKey(found: string): string {
  return found
    .toLowerCase()
    .replace(/[\s-]/g, '')
    .replace(/(?<=\d),(?=\d{3})/g, '')
    .replace(/(?<=[a-z]{2})s$/, '')
}

/** Identifiers of two parts or more; names of files are paths. */
export function identifiersIn(text: string): string[] {
  return [...namesIn(text.replace(URL, ' '))].filter((name) => !isFileName(name))
}

/** Every ending of a path at a slash, the shortest first: `c.ts`, `b/c.ts`, `a/b/c.ts`. */
export function endingsOf(path: string): string[] {
  const endings: string[] = []
  for (
    let at = path.lastIndexOf('/');
    at >= 0 && endings.length < 12;
    at = at === 0 ? -1 : path.lastIndexOf('/', at - 1)
  ) {
    const ending = path.slice(at + 1)
    if (ending !== '') endings.push(ending)
  }
  return [...endings, path]
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** A loop: an expression would read a run of full stops again from each of its characters. */
function withoutEnd(word: string): string {
  let [start, end] = [0, word.length]
  while (end > 0 && '.-+/@~'.includes(word.charAt(end - 1))) end--
  if (word.startsWith('./')) start = 2
  return word.slice(start, end)
}
