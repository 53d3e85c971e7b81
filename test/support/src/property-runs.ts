/**
 * Cases of a property that takes long: an eighth of them in `npm test`, all in CI, which sets `HEDDLE_PROPERTY_SHARE=1`.
 *
 * @param all the number that finds what the property is for
 */
export function propertyRuns(all: number): number {
  return Math.ceil(all * share)
}

/** Examples of which each takes long: the last one alone in `npm test`, all in CI. */
export function longCases<Case>(all: readonly Case[]): readonly Case[] {
  return share < 1 ? all.slice(-1) : all
}

const share = Number(process.env['HEDDLE_PROPERTY_SHARE'] ?? 0.125)
