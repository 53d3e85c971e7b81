import type { Fact } from '@heddle/contracts'
import { type Fact as KnownFact, messageReference, type Standing, standingsOf } from '@heddle/core'
import { type FactRow, loadCodes, loadKeys, type Tx } from '@heddle/store'
import { isoTime } from '../setup/iso-time.js'

/** A fact as the rules see it: its scope is its thread, or the agent. */
export function knownFact({ threadId, ...row }: FactRow): KnownFact {
  return { ...row, scope: threadId ?? 'agent' }
}

/** Every fact with those that replace it or deny it. */
export async function loadStandings(
  tx: Tx,
  agentId: string,
  rows: readonly FactRow[],
): Promise<ReadonlyMap<string, Standing>> {
  const others = await loadKeys(tx, agentId, rows)
  const all = new Map([...others, ...rows].map((row) => [row.id, knownFact(row)]))
  return standingsOf([...all.values()])
}

/** Facts with the references of the messages that say so. */
export async function viewFacts(
  tx: Tx,
  agent: string,
  { rows, standings }: { readonly rows: readonly FactRow[]; readonly standings: ReadonlyMap<string, Standing> },
): Promise<Fact[]> {
  const threadIds = new Set(rows.flatMap(({ threadId, sources }) => (sources.length > 0 ? (threadId ?? []) : [])))
  const codes = new Map<string, string>()
  for (const threadId of threadIds) {
    const ids = rows.filter((row) => row.threadId === threadId).flatMap(({ sources }) => sources)
    for (const [id, code] of await loadCodes(tx, { threadId, ids })) codes.set(id, code)
  }
  return rows.map((row) => viewFact(row, { agent, standing: standings.get(row.id), codes }))
}

interface Beside {
  readonly agent: string
  readonly standing: Standing | undefined
  readonly codes: ReadonlyMap<string, string>
}

function viewFact(row: FactRow, { agent, standing, codes }: Beside): Fact {
  const { id, thread, subject, predicate, object, kind, statement, extractor, confidence, origin } = row
  return {
    ...{ id, agent, thread, subject, predicate, object, kind, negated: row.isNegated, single: row.isSingle, statement },
    validFrom: isoTime(row.validFromMs),
    validTo: isoTime(standing?.validToMs ?? row.validToMs),
    recordedAt: isoTime(row.recordedAtMs),
    supersededBy: standing?.supersededBy ?? row.correctedBy,
    conflictsWith: [...(standing?.conflictsWith ?? [])],
    retractedAt: isoTime(row.retractedAtMs),
    sources: row.sources.flatMap((messageId) => {
      const code = codes.get(messageId)
      return code === undefined ? [] : [{ messageId, reference: messageReference(code) }]
    }),
    ...{ extractor, confidence, origin },
  }
}
