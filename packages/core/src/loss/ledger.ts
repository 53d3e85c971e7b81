import { atomKinds } from '@heddle/contracts'
import { oneLine } from '../tools/lines.js'
import type { Atom, AtomSet } from './atom.js'

/** The location of the ledger up to a message: `msg-xxxxxxxx:ledger`. */
export function ledgerReference(reference: string): string {
  return `${reference}:ledger`
}

/** Every atom on a line of its own, with the messages that have it, so that lines and words of it can be recalled. */
export function ledgerText(atoms: AtomSet): string {
  return atomKinds.flatMap((kind) => atoms.of(kind).map(ledgerLine)).join('\n')
}

/** Messages named on a line, the latest. */
const REFERENCES_MAX = 3

function ledgerLine({ kind, text, state, references }: Atom): string {
  const where = references.length === 0 ? '' : ` (${references.slice(-REFERENCES_MAX).join(', ')})`
  return `${kind}${state === null ? '' : ` (${state})`}: ${oneLine(text)}${where}`
}
