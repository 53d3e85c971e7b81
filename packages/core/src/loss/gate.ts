import { type AtomKind, atomKinds } from '@heddle/contracts'
import { recallTag } from '../conversation/references.js'
import type { Pausable } from '../recall/steps.js'
import { countTokens } from '../tokens/tokens.js'
import { oneLine } from '../tools/lines.js'
import type { Atom, AtomSet } from './atom.js'
import { ledgerReference } from './ledger.js'
import { type AtomFates, fatesOf } from './report.js'

/** Share of a summary's tokens that is free for what the summarizer leaves out. */
const REPAIR_SHARE = 0.2
/** Of a shorter summary nothing is set aside. */
const REPAIR_TOKENS_MIN = 20

/** Tokens of a summary that its summarizer may not use, so that lost details fit behind it. */
export function repairTokens(tokensMax: number): number {
  const tokens = Math.floor(tokensMax * REPAIR_SHARE)
  return tokens < REPAIR_TOKENS_MIN ? 0 : tokens
}

export interface GateRequest {
  readonly summary: string
  readonly tokensMax: number
  /** The atoms of what it covers. */
  readonly atoms: AtomSet
  /** The kinds of which lost atoms are added. */
  readonly repair: ReadonlySet<AtomKind>
  /** The last message that it covers, whose ledger has every atom; empty if it has no reference. */
  readonly last: string
}

export interface Gated {
  readonly summary: string
  readonly fates: AtomFates
}

/**
 * Adds to a summary the atoms that it lost, as far as its tokens go: first the reference of the ledger, which is one recall away
 * from all of them, then their lines by the importance of their kinds, the latest of each kind first.
 */
export function* gateSummary({ summary, tokensMax, atoms, repair, last }: GateRequest): Pausable<Gated> {
  const before = yield* fatesOf(atoms, { summary, messages: [] })
  const lost = before.lost.filter(({ kind }) => repair.has(kind))
  if (lost.length === 0) return { summary, fates: before }
  let left = tokensMax - countTokens(summary)
  const added: string[] = []
  const add = (line: string): boolean => {
    // The line feed before it is a token at most.
    const tokens = countTokens(line) + 1
    if (tokens > left) return false
    left -= tokens
    added.push(line)
    return true
  }
  if (last !== '') add(`All details, line by line: ${recallTag(ledgerReference(last))}`)
  if (add(HEADING)) {
    for (const atom of inOrder(lost)) {
      add(lineOf(atom))
      yield
      if (left < LINE_TOKENS_MIN) break
    }
    if (added.at(-1) === HEADING) added.pop()
  }
  if (added.length === 0) return { summary, fates: before }
  const whole = withinTokens(`${summary.trimEnd()}\n\n${added.join('\n')}`, summary, tokensMax)
  return { summary: whole, fates: yield* fatesOf(atoms, { summary: whole, messages: [] }) }
}

const HEADING = 'Also said and done:'
const LINE_TOKENS_MIN = 6

function inOrder(lost: readonly Atom[]): Atom[] {
  return atomKinds.flatMap((kind) => lost.filter((atom) => atom.kind === kind).reverse())
}

/** The text that {@link fatesOf} finds again. */
function lineOf({ text }: Atom): string {
  return `- ${oneLine(text)}`
}

/** The counts of parts may add up to fewer tokens than the whole has. */
function withinTokens(whole: string, bare: string, tokensMax: number): string {
  let text = whole
  while (text.length > bare.length && countTokens(text) > tokensMax) text = text.slice(0, text.lastIndexOf('\n'))
  return text.length > bare.length ? text : bare
}
