import type { Measured } from '@heddle/test-support/figure'
import { type Judged, shares } from './judge.js'

/** Targets by the last part of a figure's name. */
export type Targets = Readonly<Record<string, string>>

export function figuresOf(name: string, all: readonly Judged[], note: string, targets: Targets = {}): Measured[] {
  return Object.entries(shares(all)).flatMap(([figure, value]) => {
    if (Number.isNaN(value)) return []
    const counted = figure === 'newer' ? all.filter(({ newerFirst }) => newerFirst !== null) : all
    const target = targets[figure]
    return [
      {
        name: `${name}.${figure}`,
        value,
        unit: 'share',
        ...(target !== undefined && { target }),
        note: `${counted.length} questions${note}`,
      },
    ]
  })
}

/** The same for the questions of each ability. */
export function figuresByAbility(
  name: string,
  all: readonly Judged[],
  note: string,
  targets: Readonly<Record<string, Targets>> = {},
): Measured[] {
  const abilities = [...new Set(all.map(({ question }) => question.ability))].sort()
  return abilities.flatMap((ability) => {
    const own = all.filter(({ question }) => question.ability === ability)
    return figuresOf(`${name}.${ability}`, own, note, targets[ability])
  })
}
