/** The samples of one metric, as Prometheus reads them. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly samples: readonly MetricSample[]
}

export interface MetricSample {
  /** The name of the family, or that of a part of a histogram. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /(?:^|,)(\w+)="((?:[^"\\]|\\.)*)"/g

/**
 * Reads the text that `/metrics` serves. Every metric of a process is in that text, whichever part of it counts them, so what is
 * exported is the same as what is scraped.
 */
export function readPrometheusText(text: string): MetricFamily[] {
  const families = new Map<string, { help: string; type: string; samples: MetricSample[] }>()
  const familyOf = (name: string) => {
    const known = families.get(name) ?? { help: '', type: 'untyped', samples: [] }
    families.set(name, known)
    return known
  }
  let current = ''
  for (const line of text.split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (kind !== undefined) {
      current = name
      if (kind === 'HELP') familyOf(name).help = rest
      else familyOf(name).type = rest
      continue
    }
    const [, sampled, labels = '', value = ''] = SAMPLE.exec(line) ?? []
    if (sampled === undefined || !sampled.startsWith(current)) continue
    familyOf(current).samples.push({ name: sampled, labels: labelsIn(labels), value: numberIn(value) })
  }
  return [...families].flatMap(([name, { help, type, samples }]) =>
    isKnown(type) && samples.length > 0 ? [{ name, help, type, samples }] : [],
  )
}

function isKnown(type: string): type is MetricFamily['type'] {
  return type === 'counter' || type === 'gauge' || type === 'histogram'
}

function labelsIn(text: string): Record<string, string> {
  const pairs = [...text.matchAll(LABEL)]
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value.replace(/\\(.)/g, unescaped)]))
}

function unescaped(_: string, character: string): string {
  return character === 'n' ? '\n' : character
}

function numberIn(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text)
}
