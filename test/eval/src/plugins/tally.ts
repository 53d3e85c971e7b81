import type { Measured } from '@heddle/test-support/figure'
import type { Judged } from './recorded.js'

const HOOK_MS_MAX = 150
const REUSED_MIN = 0.8
const PARTS = ['invalid', 'stubs', 'recalled', 'reused', 'reused.direct']

/** The names of the figures of a plugin. */
export function figureNames(plugin: string, hooks: readonly string[]): string[] {
  return [...PARTS, ...hooks.map((hook) => `p99.${hook}`)].map((part) => `${plugin}.${part}`)
}

/** Sums over all hooks that were run. */
export class Tally {
  readonly #ms = new Map<string, number[]>()
  /** Answers that have not the documented form, with their faults. */
  readonly invalid: string[] = []
  readonly compactions: Judged[] = []
  outputs = 0
  recalled = 0
  stubs = 0

  took(hook: string, ms: number): void {
    this.#ms.set(hook, [...(this.#ms.get(hook) ?? []), ms])
  }

  figures(plugin: string, hooks: readonly string[]): Measured[] {
    const figure = (part: string, value: number, unit: string, target: string, note: string): Measured => ({
      name: `${plugin}.${part}`,
      value,
      unit,
      target,
      note,
    })
    const { invalid, outputs, recalled, stubs, compactions } = this
    const sum = (part: 'wanted' | 'direct' | 'recalled') => compactions.reduce((all, each) => all + each[part], 0)
    const each = compactions.map(({ session, wanted, recalled: hit }) => `${session} ${(hit / wanted).toFixed(2)}`)
    const runs = [...this.#ms.values()].reduce((all, { length }) => all + length, 0)
    return [
      figure(
        'invalid',
        invalid.length,
        'answers',
        '<= 0',
        [`${runs} runs of hooks`, ...invalid.slice(0, 5)].join('; '),
      ),
      { name: `${plugin}.stubs`, value: stubs, unit: 'outputs', note: `${outputs} outputs of tools` },
      figure('recalled', recalled / outputs, 'share', '>= 1', `${outputs} outputs of tools, byte for byte`),
      figure('reused', sum('recalled') / sum('wanted'), 'share', `>= ${REUSED_MIN}`, each.join(', ')),
      {
        name: `${plugin}.reused.direct`,
        value: sum('direct') / sum('wanted'),
        unit: 'share',
        note: 'without a recall',
      },
      ...hooks.map((hook) => {
        const sorted = (this.#ms.get(hook) ?? []).toSorted((left, right) => left - right)
        const p99 = sorted[Math.max(0, Math.ceil(sorted.length * 0.99) - 1)] ?? 0
        const median = sorted[Math.floor(sorted.length / 2)] ?? 0
        const note = `${sorted.length} runs, median ${median.toFixed(1)}`
        return figure(`p99.${hook}`, p99, 'ms', `<= ${HOOK_MS_MAX}`, note)
      }),
    ]
  }
}
