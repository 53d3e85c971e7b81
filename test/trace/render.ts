import type { ReceivedSpan } from './receiver.js'

/** A trace as text: a line for each span, with its beginning and its duration in milliseconds, below the span that caused it. */
export function renderTrace(spans: readonly ReceivedSpan[]): string {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const startMs = Math.min(...spans.map((span) => span.startMs))
  const childrenOf = (parent: string | null) =>
    spans
      .filter(({ parentSpanId }) => (parentSpanId !== null && ids.has(parentSpanId) ? parentSpanId : null) === parent)
      .sort((one, other) => one.startMs - other.startMs)
  const lines: string[] = ['    begin  duration  span']
  const write = (parent: string | null, depth: number) => {
    for (const span of childrenOf(parent)) {
      const times = [span.startMs - startMs, span.endMs - span.startMs].map((ms) => ms.toFixed(1).padStart(9))
      lines.push(`${times.join(' ')}  ${'  '.repeat(depth)}${span.name}${factsOf(span)}`)
      write(span.spanId, depth + 1)
    }
  }
  write(null, 0)
  return lines.join('\n')
}

/** The attributes that say something about this turn, and not about Heddle. */
const shown = [
  ['http.response.status_code', ''],
  ['heddle.wait_ms', 'waited ms '],
  ['heddle.messages', 'messages '],
  ['heddle.texts', 'texts '],
  ['heddle.context.tokens', 'tokens '],
  ['gen_ai.usage.output_tokens', 'output tokens '],
  ['gen_ai.memory.record.count', 'records '],
] as const

function factsOf({ attributes }: ReceivedSpan): string {
  const facts = shown.flatMap(([name, label]) =>
    attributes[name] === undefined ? [] : [`${label}${attributes[name]}`],
  )
  return facts.length === 0 ? '' : `  (${facts.join(', ')})`
}
