import { recallTag } from '../conversation/references.js'
import { countLines, sliceWhole } from '../tools/lines.js'

const CHARACTERS_PER_TOKEN = 4
/** Share of a stub that the beginning of the result gets; the end gets half of the rest, lines about failures the other half. */
const HEAD_SHARE = 0.5
const TAIL_SHARE = 0.25
const FAILURE = /\b(?:error|errors|failed|failure|fatal|panic|exception|traceback|warning|denied|not found)\b/i
const LINE_CHARACTERS_MAX = 400

/**
 * A result in a few tokens: its first and last lines, between them those about failures, and the reference under which
 * all of it can be recalled.
 *
 * @param tokensMax of the lines; the notes around them are extra
 */
export function stubText(
  text: string,
  { reference, tokensBefore, tokensMax }: { reference: string; tokensBefore: number; tokensMax: number },
): string {
  const room = tokensMax * CHARACTERS_PER_TOKEN
  const head = beginningOf(text, room * HEAD_SHARE)
  const tail = endOf(text.slice(head.length), room * TAIL_SHARE)
  const middle = text.slice(head.length, text.length - tail.length)
  const failures = failureLines(middle, room * (1 - HEAD_SHARE - TAIL_SHARE))
  const lines = `${countLines(middle)} of ${countLines(text)} lines`
  const note = `[${lines} left out by Heddle, ${tokensBefore} tokens in all: ${recallTag(reference)}]`
  return [head.trimEnd(), note, ...failures, tail.trimStart()].filter((each) => each !== '').join('\n')
}

/** Whole lines as far as they fit; a part of the first one if it alone does not. */
function beginningOf(text: string, charactersMax: number): string {
  const cut = sliceWhole(text, Math.floor(charactersMax))
  const end = cut.lastIndexOf('\n')
  return cut.length === text.length || end < charactersMax / 2 ? cut : cut.slice(0, end + 1)
}

function endOf(text: string, charactersMax: number): string {
  const from = Math.max(0, text.length - Math.floor(charactersMax))
  const cut = text.slice(from)
  const start = cut.indexOf('\n')
  const whole = from === 0 || start < 0 || start > charactersMax / 2 ? cut : cut.slice(start + 1)
  const first = whole.charCodeAt(0)
  return first >= 0xdc00 && first <= 0xdfff ? whole.slice(1) : whole
}

/** Lines about failures, from the first on. */
function failureLines(text: string, charactersMax: number): string[] {
  const lines: string[] = []
  let left = charactersMax
  for (let from = 0; from < text.length && left > 0; ) {
    const end = text.indexOf('\n', from)
    const to = end < 0 ? text.length : end
    const line = sliceWhole(text.slice(from, Math.min(to, from + LINE_CHARACTERS_MAX)), LINE_CHARACTERS_MAX).trim()
    if (line.length < left && FAILURE.test(line)) {
      lines.push(line)
      left -= line.length
    }
    from = to + 1
  }
  return lines
}
