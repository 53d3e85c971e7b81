import { truncate } from '../tools/lines.js'
import type { Edits } from './edits.js'
import { times } from './lines.js'
import type { Subject } from './subjects.js'

/** Names of one kind listed on a line; the rest are counted. */
const UNITS_TOLD = 3
const REMOVED_TOLD = 2
/** A file edited this often is described with two reasons. */
const EDITS_FOR_TWO_REASONS = 4
const CHECK_CHARACTERS_MAX = 40

/** Describes a file: what was done to it, why, and how the next check went; or a command: how it ended. */
export function describeSubject(subject: Subject, label: string): string {
  return subject.kind === 'file' ? `${label}: ${fileText(subject)}` : `${label}: ${actionText(subject)}`
}

function fileText({ edits, views }: Subject): string {
  const done = edits.isCreated ? 'created' : ''
  const edited = times('edited', edits.isCreated ? edits.count - 1 : edits.count)
  const parts = [done, edited, edits.isCreated ? '' : times('read', views)].filter((part) => part !== '')
  if (parts.length === 0) return 'seen in searches'
  const clauses = [parts.join(', '), unitsText(edits), reasonText(edits), checkText(edits)]
  return clauses.filter((clause) => clause !== '').join('; ')
}

function unitsText({ added, changed, removed }: Edits): string {
  return [
    listed('added', added, UNITS_TOLD),
    listed('changed', changed, UNITS_TOLD),
    listed('removed', removed, REMOVED_TOLD),
  ]
    .filter((clause) => clause !== '')
    .join(', ')
}

/** The latest names, with which the work is most likely to continue. */
function listed(verb: string, units: ReadonlySet<string>, unitsMax: number): string {
  if (units.size === 0) return ''
  const told = [...units].slice(-unitsMax)
  const more = units.size - told.length
  return `${verb} ${told.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function reasonText({ reasons, count }: Edits): string {
  const best = reasons
    .map((reason, at) => ({ ...reason, at }))
    .sort((left, right) => right.weight - left.weight || right.at - left.at)
    .slice(0, count >= EDITS_FOR_TWO_REASONS ? 2 : 1)
    .sort((left, right) => left.at - right.at)
  return best.length === 0 ? '' : `why: ${best.map(({ text }) => text).join('; ')}`
}

function checkText({ check }: Edits): string {
  if (check === null) return ''
  return `${truncate(check.label, CHECK_CHARACTERS_MAX)} ${check.hasPassed ? 'passed' : 'failed'} after it`
}

function actionText({ runs, failures, status, outcome }: Subject): string {
  const often = runs > 1 ? ` (${runs} runs${failures > 0 ? `, ${failures} failed` : ''})` : ''
  const said = status === 'ok' || status === 'exit 0' ? outcome : `${status}${outcome === '' ? '' : `, ${outcome}`}`
  return `${said || status}${often}`
}
