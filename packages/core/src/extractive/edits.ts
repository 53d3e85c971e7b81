import { oneLine, truncate } from '../tools/lines.js'
import { type CodeNames, readCode } from './code.js'

/**
 * The effect of edits on one file: the functions, types and headings that they touched, why, and how later checks went.
 */
export interface Edits {
  count: number
  isCreated: boolean
  /** Functions, types and headings, in order of their latest edit. */
  readonly added: Set<string>
  readonly changed: Set<string>
  readonly removed: Set<string>
  /** The agent's stated reasons, oldest first. */
  reasons: readonly Reason[]
  /** The first check after the last edit; null before any check. */
  check: Check | null
}

/** An agent's text before an edit. */
export interface Reason {
  readonly text: string
  /** How well it explains the edit. */
  readonly weight: number
}

export interface Check {
  readonly label: string
  readonly hasPassed: boolean
}

/** Beyond this many, units are counted and not named. */
const UNITS_MAX = 60
const REASONS_MAX = 8

export function noEdits(): Edits {
  return {
    count: 0,
    isCreated: false,
    added: new Set(),
    changed: new Set(),
    removed: new Set(),
    reasons: [],
    check: null,
  }
}

/** A text of an edit, read once for all files that the edit names. */
export interface EditedText {
  readonly text: string
  readonly code: CodeNames
}

export function readText(text: string): EditedText {
  return { text, code: readCode(text) }
}

export interface Edit {
  /** The text that it removes, and the one that it inserts. */
  readonly from: EditedText
  readonly to: EditedText
  readonly reason: Reason | null
}

/** Adds one edit of a file. */
export function addEdit(edits: Edits, path: string, { from, to, reason }: Edit): void {
  const before = unitsIn(path, from)
  const after = unitsIn(path, to)
  edits.count++
  edits.check = null
  for (const unit of after.units) {
    if (before.units.has(unit)) move(unit, edits.changed, [edits.removed], edits.added)
    else move(unit, edits.added, [edits.changed, edits.removed])
  }
  for (const unit of before.units) if (!after.units.has(unit)) move(unit, edits.removed, [edits.added, edits.changed])
  for (const scope of [...before.scopes, ...after.scopes]) {
    if (!edits.added.has(scope) && !edits.removed.has(scope)) move(scope, edits.changed, [])
  }
  if (reason !== null && !edits.reasons.some(({ text }) => text === reason.text)) {
    edits.reasons = [...edits.reasons, reason].slice(-REASONS_MAX)
  }
}

/** A unit that was added stays in `added`, however often it is changed afterwards. */
function move(unit: string, to: Set<string>, from: readonly Set<string>[], unless?: Set<string>): void {
  for (const each of from) each.delete(unit)
  if (unless?.has(unit)) return
  to.delete(unit)
  if (to.size < UNITS_MAX) to.add(unit)
}

const HEADING = /^#{1,4} +(.{2,120})$/gm
const HEADINGS_MAX = 40
/** In other files, lines that start like headings are comments. */
const TEXT_FILE = /\.(?:mdx?|markdown|txt|adoc)$|\/[A-Z]+$/
/** Inside code blocks, lines that start like headings are comments. */
const FENCED = /^```[^\n]*\n[^`]{0,4000}^```/gm

/** The declarations of code, except variables, and the headings of a text. */
function unitsIn(
  path: string,
  { text, code: { units, scopes } }: EditedText,
): { readonly units: ReadonlySet<string>; readonly scopes: ReadonlySet<string> } {
  if (units.size > 0 || !TEXT_FILE.test(path)) return { units, scopes: new Set(scopes.values()) }
  const headings: string[] = []
  for (const [, words = ''] of text.replace(FENCED, '').matchAll(HEADING)) {
    if (headings.push(`“${truncate(oneLine(words), 50)}”`) === HEADINGS_MAX) break
  }
  return { units: new Set(headings), scopes: new Set() }
}
