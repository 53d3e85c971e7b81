import { isOnlySigns, oneLine, sliceWhole, truncate } from '../tools/lines.js'
import { withoutInjected } from './injected.js'

/** A statement is a sentence, not a page. */
export const SENTENCE_CHARACTERS_MAX = 320
/** Characters read of one message: its beginning and its end, where people and models put the important parts. */
const HEAD_CHARACTERS = 12_000
const TAIL_CHARACTERS = 4_000
const SENTENCES_MAX = 120

const PROTOCOL_LINE =
  /^(?:\{\s*"|\[\s*\{|"[\w-]+"\s*:|\[called |\[… |\[Request interrupted|\((?:Open file|Current directory): |bash-\$|Caveat: The messages below)|"(?:tool_use_id|tool_call_id|type":\s*"tool_)/

/** Whether a line is a tool's wire format or an agent's markup. */
export function isProtocol(line: string): boolean {
  return PROTOCOL_LINE.test(line)
}

/** The sentences of a message in order, each on one line, without code, tables, lead-ins and markup. */
export function sentencesOf(text: string): string[] {
  return sentencesIn(speechOf(text))
}

/** The same of a text that {@link speechOf} returned. */
export function sentencesIn(speech: string): string[] {
  const sentences: string[] = []
  let inCode = false
  for (const rawLine of speech.split('\n')) {
    const line = rawLine.trim()
    if (line.startsWith('```') || line.startsWith('~~~')) {
      inCode = !inCode
      continue
    }
    if (inCode || isOnlySigns(line) || /^(?:\||\/\/|\/\*|#!|#include)/.test(line) || isProtocol(line)) continue
    for (const sentence of splitLine(plainLine(line))) {
      if (sentence.length > 2 && !/^[^.?!]{0,80}:$/.test(sentence)) sentences.push(sentence)
      if (sentences.length === SENTENCES_MAX) return sentences
    }
  }
  return sentences
}

const TAG = /<\/?[a-z][a-z0-9_:-]{0,40}(?:\s[^<>]{0,200})?>/gi

/** The spoken text, bounded: without inserted blocks, tags and textual calls. */
export function speechOf(text: string): string {
  let speech =
    text.length <= HEAD_CHARACTERS + TAIL_CHARACTERS
      ? text
      : `${sliceWhole(text, HEAD_CHARACTERS)}\n${text.slice(-TAIL_CHARACTERS).toWellFormed()}`
  const calls = speech.startsWith('[called ') ? 0 : speech.indexOf('\n[called ')
  if (calls >= 0) speech = speech.slice(0, calls)
  const spoken = speech.includes('<') ? withoutInjected(speech).replace(TAG, '') : speech
  return spoken.includes('[recall:') ? spoken.replace(/\[recall:[^\]\n]{0,200}\]/g, '') : spoken
}

/**
 * The sentences of a text that is all prose, such as a summary, each on one line: of every line that has a letter or a digit, without
 * its markup. A heading is no sentence. Scripts without capital letters are split at their own full stops.
 */
export function proseSentences(text: string): string[] {
  return text.split('\n').flatMap((rawLine) => {
    const line = rawLine.trim()
    if (isHeading(line)) return []
    return splitLine(plainLine(line), PROSE_STOP).filter((sentence) => !isOnlySigns(sentence))
  })
}

function isHeading(line: string): boolean {
  return /^#{1,6}\s/.test(line) || /^[^.?!。！？]{0,80}:$/.test(line.replaceAll('*', ''))
}

/** A line without markup of lists, quotes, headings and emphasis. */
function plainLine(line: string): string {
  return oneLine(line, 4_000)
    .replace(/^(?:(?:#{1,6}|>|[-*+•]|\d{1,3}[.)]|\[[ x]\])\s+)+/i, '')
    .replaceAll('**', '')
    .trim()
}

/** Sentence ends: a full stop, white space, and something that can begin a sentence. */
const STOP = /[.!?](?:["')\]]{0,2})\s+(?=[\p{Lu}\p{N}"'(`[])/gu
/** The same in any script: a letter without case can begin a sentence, and some full stops need no space. */
const PROSE_STOP = /[.!?؟।](?:["')\]»”]{0,2})\s+(?=[\p{Lu}\p{Lo}\p{N}"'(`[«“])|[。！？](?:["')\]”」』]{0,2})\s*(?=\S)/gu
const ABBREVIATION = /(?:\b(?:e\.g|i\.e|etc|vs|cf|Mr|Mrs|Ms|Dr|No|approx)|\b[A-Z])\.$/

function splitLine(line: string, stops = STOP): string[] {
  const sentences: string[] = []
  let from = 0
  for (const stop of line.matchAll(stops)) {
    const end = stop.index + stop[0].trimEnd().length
    const sentence = line.slice(from, end)
    if (ABBREVIATION.test(sentence.slice(-8))) continue
    sentences.push(sentence)
    from = stop.index + stop[0].length
  }
  sentences.push(line.slice(from))
  return sentences.map((sentence) => truncate(sentence.trim(), SENTENCE_CHARACTERS_MAX))
}
