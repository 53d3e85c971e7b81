import { atomKinds } from '@heddle/contracts'
import { oneLine } from '../tools/lines.js'
import type { Atom, AtomSet } from './atom.js'

/** The location of the ledger up to a message: `msg-xxxxxxxx:ledger`. */
export function ledgerReference(reference: string): string {
  return `${reference}:ledger`
}

/** A detail with the number of its line in {@link ledgerText}. */
export interface LedgerLine extends Pick<Atom, 'kind' | 'text' | 'state'> {
  readonly line: number
  /** The latest ones first. */
  readonly references: readonly string[]
}

/** The lines of a ledger: by kind, then in the order of the conversation. */
export function ledgerLines(atoms: AtomSet): LedgerLine[] {
  return atomKinds
    .flatMap((kind) => atoms.of(kind))
    .map(({ kind, text, state, references }, index) => ({
      line: index + 1,
      kind,
      state,
      text: oneLine(text),
      references: references.slice(-REFERENCES_MAX).reverse(),
    }))
}

/** Every atom on a line of its own, with the messages that have it, so that lines and words of it can be recalled. */
export function ledgerText(atoms: AtomSet): string {
  return ledgerLines(atoms).map(textOf).join('\n')
}

/** Messages named on a line, the latest. */
const REFERENCES_MAX = 3

function textOf({ kind, text, state, references }: LedgerLine): string {
  const where = references.length === 0 ? '' : ` (${[...references].reverse().join(', ')})`
  return `${kind}${state === null ? '' : ` (${state})`}: ${text}${where}`
}
