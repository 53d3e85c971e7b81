import { type Measured, toFigure } from '@heddle/test-support/figure'
import { nameOn } from './figures.js'
import { run } from './run.js'
import { expectedMisses, type SabotageName, sabotageNames } from './sabotage.js'
import type { BackendName } from './servers.js'
import { proofSize } from './sizes.js'

/** Without the backend: a run as it should be, and one for each sabotage. */
export const proofNames = ['proof.clean', ...sabotageNames.map((name) => `proof.${name}` as const)] as const

/**
 * Shows that a run fails where the pipeline is robbed of what it relies on, with the figure that tells of it, and passes
 * where it is not. A proof's value is the figures that miss and should not, or do not miss and should.
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

/** Without idempotency a sequence may be doubled too, and what was sabotaged may do more harm than it had to. */
function countSurprises(misses: readonly Measured[], sabotage: SabotageName | null, backend: BackendName): number {
  if (sabotage === null) return misses.length
  return misses.some(({ name }) => name === nameOn(expectedMisses[sabotage], backend)) ? 0 : 1
}
