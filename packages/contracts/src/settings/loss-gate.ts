import { z } from 'zod'
import { type AtomKind, atomKinds } from '../primitives/atom-kinds.js'

/**
 * The effect of a detail that a summary lost: `off`: not looked for; `warn`: counted in the log; `repair`: added to the
 * summary within its tokens, or left one recall away; `block`: the same, and a summary that still lost one is not stored.
 */
export const lossGateModes = ['off', 'warn', 'repair', 'block'] as const
export type LossGateMode = (typeof lossGateModes)[number]

export const lossGateModeSchema = z.enum(lossGateModes, { error: `must be one of ${lossGateModes.join(', ')}` })

export type LossGate = Readonly<Record<AtomKind, LossGateMode>>

/** The kinds with one of some modes. */
export function gatedKinds(gate: LossGate, modes: readonly LossGateMode[]): ReadonlySet<AtomKind> {
  return new Set(atomKinds.filter((kind) => modes.includes(gate[kind])))
}

export const defaultLossGate: LossGate = {
  constraint: 'warn',
  correction: 'warn',
  decision: 'off',
  path: 'off',
  command: 'off',
  error: 'off',
  todo: 'off',
  url: 'off',
  number: 'off',
  identifier: 'off',
  name: 'off',
}
