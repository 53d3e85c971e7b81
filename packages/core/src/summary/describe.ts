import { times } from './lines.js'
import type { NameRole, Subject } from './subjects.js'

/** What is said of a subject: what was done to it, and what the given names are to it. */
export function describeSubject(subject: Subject, label: string, names: readonly string[]): string {
  return [`${label}: ${historyOf(subject)}`, ...clausesOf(subject, names)].join('; ')
}

function historyOf(subject: Subject): string {
  if (subject.kind === 'file') {
    const parts = [times('edited', subject.edits), times('read', subject.views)].filter((part) => part !== '')
    return parts.length > 0 ? parts.join(', ') : 'seen in searches'
  }
  const { runs, failures, status, outcome } = subject
  const often = runs > 1 ? ` (${runs} runs${failures > 0 ? `, ${failures} failed` : ''})` : ''
  const said = status === 'ok' || status === 'exit 0' ? outcome : `${status}${outcome === '' ? '' : `, ${outcome}`}`
  return `${said || status}${often}`
}

/** How each role is told, in the order of their weight. */
const VERBS: readonly (readonly [NameRole, file: string, scope: string])[] = [
  ['defined', 'now defines', 'now defines'],
  ['added', 'now uses', 'now uses'],
  ['changed', 'edited around', 'was edited around'],
  ['removed', 'no longer has', 'lost'],
  ['seen', 'has', 'works with'],
]

/** Names of a function that are told together with it. */
const SCOPE_NAMES_MIN = 2

function clausesOf(subject: Subject, names: readonly string[]): string[] {
  return VERBS.flatMap(([role, file, scoped]) => {
    const own = names.filter((name) => subject.roles.get(name) === role)
    const groups = new Map<string, string[]>()
    for (const name of own) {
      const scope = role === 'defined' ? '' : (subject.scopes.get(name) ?? '')
      groups.set(scope, [...(groups.get(scope) ?? []), name])
    }
    const alone: string[] = []
    const clauses: string[] = []
    for (const [scope, group] of groups) {
      if (scope === '' || group.length < SCOPE_NAMES_MIN) alone.push(...group)
      else clauses.push(`${scope} ${scoped} ${listed(group.filter((name) => name !== scope))}`)
    }
    const inScopes = new Set([...groups].flatMap(([scope, group]) => (group.length < SCOPE_NAMES_MIN ? [] : [scope])))
    const rest = alone.filter((name) => !inScopes.has(name))
    const verb = subject.kind === 'file' ? file : 'shows'
    return rest.length === 0 ? clauses : [`${verb} ${listed(rest)}`, ...clauses]
  })
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
