/** One measured number beside its ceiling: one line of the output. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The performance of the parts alone, measured in the same run; null for a figure without a ceiling. */
  readonly ceiling: number | null
  /** `value / ceiling`. */
  readonly ratio: number | null
  /** The condition on the ratio, or on the value without a ceiling, such as `>= 0.5`; null for a figure without a target. */
  readonly target: string | null
  readonly pass: boolean | null
  /** Facts that a comparison with another run needs. */
  readonly note?: string
}

export interface Measured {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly ceiling?: number
  readonly target?: string
  readonly note?: string
}

const SIGNIFICANT_DIGITS = 4

export function toFigure({ name, value, unit, ceiling, target, note }: Measured): Figure {
  const ratio = ceiling === undefined ? null : value / ceiling
  return {
    name,
    value: rounded(value),
    unit,
    ceiling: ceiling === undefined ? null : rounded(ceiling),
    ratio: ratio === null ? null : rounded(ratio),
    target: target ?? null,
    pass: target === undefined ? null : meets(ratio ?? value, target),
    ...(note !== undefined && { note }),
  }
}

export function formatFigure(figure: Figure): string {
  return JSON.stringify(figure)
}

/** Whether a figure is selected: all of them if `only` is null, otherwise those with one of the names or prefixes. */
export function isWanted(name: string, only: readonly string[] | null): boolean {
  return only === null || only.some((wanted) => name === wanted || name.startsWith(`${wanted}.`))
}

/** @throws TypeError if the target is neither `>= number` nor `<= number` */
export function meets(value: number, target: string): boolean {
  const [, sign, bound] = /^(>=|<=) (\d+(?:\.\d+)?)$/.exec(target) ?? []
  if (sign === undefined || bound === undefined) throw new TypeError(`not a target: ${target}`)
  return sign === '>=' ? value >= Number(bound) : value <= Number(bound)
}

function rounded(value: number): number {
  return Number(value.toPrecision(SIGNIFICANT_DIGITS))
}
