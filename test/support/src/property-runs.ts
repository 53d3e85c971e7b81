/**
 * Cases of a property that takes long: a quarter of them in `npm test`, all in CI, which sets `HEDDLE_PROPERTY_SHARE=1`.
 *
 * @param all the number that finds what the property is for
 */
export function propertyRuns(all: number): number {
  return Math.ceil(all * share)
}

const share = Number(process.env['HEDDLE_PROPERTY_SHARE'] ?? 0.25)
