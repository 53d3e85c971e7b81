/** Characters of a token in the generated texts, about. */
const CHARACTERS_PER_TOKEN = 4
const LOOP_TOKENS = 600

type Message = Readonly<Record<string, unknown>>

/** A conversation of an agent with Anthropic's Messages API: loops of one call and its result, each of about 600 tokens. */
export class GrowingConversation {
  readonly #messages: string[] = []
  #loops = 0

  /** @param name unique, by which the proxy knows the conversation */
  constructor(
    private readonly name: string,
    tokens: number,
  ) {
    this.#add({ role: 'user', content: `Work on ${name}.` })
    for (let begun = 0; begun < tokens; begun += LOOP_TOKENS) this.#addLoop()
  }

  /** The body of the next request: the history and one more loop. */
  next(): Buffer {
    this.#addLoop()
    const metadata = JSON.stringify({ user_id: `user_x_account__session_${this.name}` })
    const head = `{"model":"claude-opus-4-5","max_tokens":1000,"stream":true,"metadata":${metadata},"tools":${TOOLS},"messages":`
    return Buffer.from(`${head}[${this.#messages.join(',')}]}`)
  }

  #addLoop(): void {
    const id = `toolu_${this.#loops++}`
    const path = `src/part-${this.#loops % 40}.ts`
    const text = `line ${this.#loops} of ${path}\n`.repeat(Math.ceil((LOOP_TOKENS * CHARACTERS_PER_TOKEN) / 28))
    this.#add({
      role: 'assistant',
      content: [
        { type: 'text', text: `I read ${path} for the ${this.#loops}th time.` },
        { type: 'tool_use', id, name: 'read_file', input: { path } },
      ],
    })
    this.#add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] })
  }

  #add(message: Message): void {
    this.#messages.push(JSON.stringify(message))
  }
}

const TOOLS = JSON.stringify([{ name: 'read_file', description: 'Reads a file.', input_schema: { type: 'object' } }])
