/** One measured number beside what bounds it: one line of the output. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** What the parts allow, measured in the same run; null where nothing bounds the figure. */
  readonly ceiling: number | null
  /** `value / ceiling`. */
  readonly ratio: number | null
  /** What the ratio, or the value where there is none, must meet, such as `>= 0.5`; null where the figure is for information. */
  readonly target: string | null
  readonly pass: boolean | null
  /** What a reader must know to compare it with another run. */
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

/** Whether a figure is meant where these are: all of them where it is null, else those that are named or begin with a name. */
export function isWanted(name: string, only: readonly string[] | null): boolean {
  return only === null || only.some((wanted) => name === wanted || name.startsWith(`${wanted}.`))
}

/** @throws TypeError where the target is neither `>= number` nor `<= number` */
export function meets(value: number, target: string): boolean {
  const [, sign, bound] = /^(>=|<=) (\d+(?:\.\d+)?)$/.exec(target) ?? []
  if (sign === undefined || bound === undefined) throw new TypeError(`not a target: ${target}`)
  return sign === '>=' ? value >= Number(bound) : value <= Number(bound)
}

function rounded(value: number): number {
  return Number(value.toPrecision(SIGNIFICANT_DIGITS))
}
