import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Findings } from './findings.js'

const path = fileURLToPath(new URL('./ceilings.json', import.meta.url))

/** The allowed number of findings of each rule; a rule without an entry allows zero. */
export type Ceilings = Readonly<Record<string, number>>

export function readCeilings(): Ceilings {
  return JSON.parse(readFileSync(path, 'utf8'))
}

export function writeCeilings(findings: readonly Findings[]): void {
  const counts = findings.filter(({ places }) => places.length > 0).map(({ rule, places }) => [rule, places.length])
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(counts), null, 2)}\n`)
}

/** Number of places printed for a rule above its ceiling. */
const PLACES_SHOWN_MAX = 20

/** Each rule that finds more than its ceiling allows, with the first places. */
export function problemsOf(findings: readonly Findings[], ceilings: Ceilings): readonly string[] {
  return findings.flatMap(({ rule, advice, places }) => {
    const ceiling = ceilings[rule] ?? 0
    if (places.length <= ceiling) return []
    const count = `${rule}: ${places.length} found, the ceiling is ${ceiling}`
    const shown = places.slice(0, PLACES_SHOWN_MAX)
    const more = places.length > shown.length ? [`all: npm run tidy -- --list "${rule}"`] : []
    return [[`${count}; ${advice}`, ...shown, ...more].join('\n  ')]
  })
}

/** Each ceiling that can be lowered. A change that removes findings does not fail because of it. */
export function looseCeilings(findings: readonly Findings[], ceilings: Ceilings): readonly string[] {
  return findings.flatMap(({ rule, places }) => {
    const ceiling = ceilings[rule] ?? 0
    if (places.length >= ceiling) return []
    return [`${rule}: ${places.length} found, the ceiling is ${ceiling}; lower it: npm run tidy -- --write`]
  })
}
