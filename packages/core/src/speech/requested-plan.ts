import { oneLine, truncate } from '../tools/lines.js'

/** A plan that a user hands over for execution: one request, however long its lists are. */
export interface RequestedPlan {
  readonly title: string
  /** Its purpose, in the plan's own words; empty if it states none. */
  readonly aim: string
  /** The headings of its steps. */
  readonly parts: readonly string[]
  /** The user's text before it. */
  readonly before: string
}

const OPENING =
  /^[^\S\n]*(?:please[,:]? )?(?:implement|execute|carry out|follow|apply|proceed with|work (?:on|through)) (?:this|the|my|our)(?: \w{1,20}){0,2} ?(?:plan|spec(?:ification)?)\b[^\n]{0,60}$/im
/** A plan starts a message, after at most a few words. */
const BEFORE_CHARACTERS_MAX = 600
const TITLE_CHARACTERS_MAX = 120
const AIM_CHARACTERS_MAX = 240
const PART_CHARACTERS_MAX = 60
const PARTS_MAX = 8
const LINES_MAX = 400

const HEADING = /^(#{1,6})\s+(.{1,300})$/
const AIM_HEADING =
  /^(?:goals?|contexts?|overview|summary|objectives?|purpose|problem|background|why|motivation|aim)\b/i
const COMMON_HEADING =
  /^(?:goals?|context|overview|summary|objectives?|purpose|problem|background|verification|testing|tests?|files? (?:to|that)|implementation(?: order| steps| plan)?|approach|steps|changes|target|notes?|risks?|out of scope|plan|critical files)\b/i

/** The plan in a text; null if there is no plan. */
export function requestedPlanIn(text: string): RequestedPlan | null {
  const opening = OPENING.exec(text.slice(0, BEFORE_CHARACTERS_MAX))
  if (!opening) return null
  const lines = withoutCode(text.slice(opening.index + opening[0].length).split('\n', LINES_MAX))
  if (!lines.some((line) => line.trim() !== '')) return null
  const headings = lines.flatMap((line, at) => {
    const found = HEADING.exec(line)
    return found ? [{ at, depth: found[1]?.length ?? 1, words: plain(found[2] ?? '') }] : []
  })
  const titleAt = headings[0]?.at ?? lines.findIndex((line) => line.trim() !== '')
  const title = plain(HEADING.exec(lines[titleAt] ?? '')?.[2] ?? lines[titleAt] ?? '').replace(
    /^(?:implementation )?plan(?: for)?\s*[:–—-]\s*/i,
    '',
  )
  const aimAt = headings.find(({ at, words }) => at > titleAt && AIM_HEADING.test(words))?.at ?? titleAt
  const named = headings.filter(({ at, words }) => at > titleAt && !COMMON_HEADING.test(words))
  const parts = named.map(({ words }) =>
    truncate(words.replace(/^(?:step |phase |part )?\d{1,2}[.):]?\s*/i, ''), PART_CHARACTERS_MAX),
  )
  return {
    title: truncate(title, TITLE_CHARACTERS_MAX),
    aim: truncate(paragraphAfter(lines, aimAt), AIM_CHARACTERS_MAX),
    parts: [...new Set(parts.filter((part) => part !== ''))].slice(0, PARTS_MAX),
    before: text.slice(0, opening.index).trim(),
  }
}

export function describeRequestedPlan({ title, aim }: RequestedPlan): string {
  return `Implement the plan “${title}”${aim === '' || aim === title ? '' : `: ${aim}`}`
}

/** The lines of the first paragraph below a heading, joined into one. */
function paragraphAfter(lines: readonly string[], at: number): string {
  const words: string[] = []
  for (const line of lines.slice(at + 1)) {
    if (HEADING.test(line) || (line.trim() === '' && words.length > 0)) break
    if (line.trim() === '' || /^\s*-{3,}\s*$/.test(line)) continue
    const before = words.at(-1)
    const isItem = /^\s*(?:[-*+•]|\d{1,2}[.)])\s/.test(line)
    if (before !== undefined && isItem && !/[:;]$/.test(before)) words[words.length - 1] = `${before};`
    words.push(plain(line))
  }
  return oneLine(words.join(' '))
}

function plain(line: string): string {
  return oneLine(line)
    .replace(/^(?:[-*+•]|\d{1,2}[.)]|\[[ x]\])\s+/i, '')
    .replaceAll('**', '')
}

function withoutCode(lines: readonly string[]): string[] {
  let inCode = false
  return lines.filter((line) => {
    if (!/^\s*(?:```|~~~)/.test(line)) return !inCode
    inCode = !inCode
    return false
  })
}
