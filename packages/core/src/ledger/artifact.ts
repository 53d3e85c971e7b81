import type { ArtifactKind, ArtifactState } from '@heddle/contracts'

/** A file, a command, a service, a ticket or an address of a conversation, in its last state. */
export interface Artifact {
  readonly kind: ArtifactKind
  /** The path, the command or the address. */
  readonly name: string
  /** Null for kinds without states. */
  readonly state: ArtifactState | null
  /** Of a file whose whole content a call gave; null if no call says. */
  readonly lines: number | null
  /** Where a file was moved, or the last output of a command; else empty. */
  readonly detail: string
  /** The last check that ran since a file was changed; null before the first. */
  readonly check: { readonly name: string; readonly passed: boolean } | null
  /** The codes of the messages with its latest calls, oldest first. */
  readonly codes: readonly string[]
  /** Later changes have a higher number. */
  readonly at: number
}

/** The artifacts of a conversation up to a compaction. */
export interface Ledger {
  /** The code of the last message, by which the ledger is recalled. */
  readonly code: string
  /** In the order of their lines. */
  readonly artifacts: readonly Artifact[]
  /** Artifacts that went beyond the bound, the least useful first. */
  readonly dropped: number
  /** The changes counted so far. */
  readonly changes: number
}

/** Artifacts of a ledger; the storage of a compaction is bounded by it. */
export const ARTIFACTS_MAX = 300

/** Whether something went wrong with it last. */
export function isFailing({ state, check }: Pick<Artifact, 'state' | 'check'>): boolean {
  return state === 'failed' || check?.passed === false
}

/** The most useful first: changed files and what failed, then commands, services and tickets, addresses, and files that were only read. */
function rankOf({ kind, state, check }: Artifact): number {
  if (isFailing({ state, check })) return 0
  if (kind === 'file') return state === 'read' ? 4 : 0
  return { command: 1, service: 2, ticket: 2, url: 3 }[kind]
}

/** Of two equally useful ones, the one that changed last comes first. */
export function byUse(left: Artifact, right: Artifact): number {
  return rankOf(left) - rankOf(right) || right.at - left.at
}
