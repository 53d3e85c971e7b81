import type { Answer } from './gateway.js'

/** The text of an output of a tool, and how to change it. */
export interface ShownOutput {
  readonly text: string
  readonly isError: boolean
  /** Puts the stub in its place, and keeps the reference with it. */
  change(answer: Answer): void
}

interface Output {
  output?: string
  metadata?: unknown
  /** Of a tool of an MCP server: OpenCode calls the hook with the result of the protocol. */
  content?: readonly { readonly type?: string; readonly text?: string }[]
  isError?: boolean
}

export function outputOf(given: Output): ShownOutput {
  const keep = ({ reference }: Answer) => {
    if (reference === undefined) return
    const metadata = typeof given.metadata === 'object' ? given.metadata : {}
    given.metadata = { ...metadata, heddle: { reference } }
  }
  if (typeof given.output === 'string') {
    return {
      text: given.output,
      isError: false,
      change(answer) {
        if (answer.output !== undefined) given.output = answer.output
        keep(answer)
      },
    }
  }
  const blocks = given.content ?? []
  const texts = blocks.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : []))
  return {
    text: texts.join('\n'),
    isError: given.isError === true,
    change(answer) {
      const hasOthers = texts.length < blocks.length
      if (answer.output !== undefined && !hasOthers) given.content = [{ type: 'text', text: answer.output }]
      keep(answer)
    },
  }
}

/** The reference that {@link outputOf} kept with an output. */
export function referenceIn(metadata: Readonly<Record<string, unknown>> | undefined): string | null {
  const kept = metadata?.['heddle']
  const reference = typeof kept === 'object' && kept !== null ? (kept as { reference?: unknown }).reference : null
  return typeof reference === 'string' ? reference : null
}
