import { type Measured, toFigure } from '@heddle/test-support/figure'
import { nameOn } from './figures.js'
import { run } from './run.js'
import { expectedMisses, type SabotageName, sabotageNames } from './sabotage.js'
import type { BackendName } from './servers.js'
import { proofSize } from './sizes.js'

/** Without the backend: a normal run, and one for each sabotage. */
export const proofNames = ['proof.clean', ...sabotageNames.map((name) => `proof.${name}` as const)] as const

/**
 * Shows that a run with a sabotage fails, with the figure that detects it, and that a run without one
 * passes. The value of a proof is the number of figures that fail and should not, or pass and should not.
 */
export async function prove(
  backend: BackendName,
  wanted: readonly string[],
  seed: number,
  report: (measured: Measured) => void,
  say: (line: string) => void,
): Promise<void> {
  for (const sabotage of [null, ...sabotageNames]) {
    const name = nameOn(`proof.${sabotage ?? 'clean'}`, backend)
    if (!wanted.includes(name)) continue
    say(`proving ${name}`)
    const measured = await run({ backend, size: proofSize, seed, sabotage, say })
    const misses = measured.filter((one) => toFigure(one).pass === false)
    report({
      name,
      value: countSurprises(misses, sabotage, backend),
      unit: 'surprises',
      target: '<= 0',
      note: `missed: ${misses.map((one) => `${one.name} ${one.value}`).join(', ') || 'nothing'}`,
    })
  }
}

/** Without idempotency a sequence number may be duplicate too, and a sabotage may do more damage than necessary. */
function countSurprises(misses: readonly Measured[], sabotage: SabotageName | null, backend: BackendName): number {
  if (sabotage === null) return misses.length
  return misses.some(({ name }) => name === nameOn(expectedMisses[sabotage], backend)) ? 0 : 1
}
