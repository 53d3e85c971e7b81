type Part = Readonly<Record<string, unknown>>

/** Calls have their input as text in a reply, and as a value in a prompt. */
export function promptPart(part: Part): Part {
  const { providerMetadata, ...rest } = part
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata }
  if (part['type'] !== 'tool-call' || typeof part['input'] !== 'string') return { ...rest, ...options }
  try {
    return { ...rest, ...options, input: JSON.parse(part['input']) }
  } catch {
    return { ...rest, ...options }
  }
}

/** Puts a streamed reply together. */
export class ReplyCollector {
  readonly #parts: Part[] = []
  /** Texts that are not complete, by their ids. */
  readonly #open = new Map<string, { type: 'text' | 'reasoning'; text: string; metadata: unknown }>()
  usage: unknown
  /** Whether the model said that it was done. */
  isWhole = false

  get content(): readonly Part[] {
    return this.#parts
  }

  add(part: Part): void {
    const [, type, step] = /^(text|reasoning)-(start|delta|end)$/.exec(String(part['type'])) ?? []
    const id = `${type} ${part['id']}`
    if (step === 'start') this.#open.set(id, { type: type as 'text', text: '', metadata: part['providerMetadata'] })
    const open = this.#open.get(id)
    if (open !== undefined) {
      if (step === 'delta') open.text += String(part['delta'])
      open.metadata = part['providerMetadata'] ?? open.metadata
      if (step === 'end') this.#close(id, open)
      return
    }
    if (part['type'] === 'tool-call') this.#parts.push(promptPart(part))
    if (part['type'] !== 'finish') return
    this.usage = part['usage']
    this.isWhole = true
  }

  #close(id: string, { type, text, metadata }: { type: string; text: string; metadata: unknown }): void {
    this.#open.delete(id)
    this.#parts.push({ type, text, ...(metadata !== undefined && { providerOptions: metadata }) })
  }
}
