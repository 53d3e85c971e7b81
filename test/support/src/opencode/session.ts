import type { Hooks, Plugin, PluginInput, PluginOptions } from '@opencode-ai/plugin'
import {
  type AssistantMessage,
  createOpencodeClient,
  type Message,
  type Part,
  type ToolPart,
  type UserMessage,
} from '@opencode-ai/sdk'

interface SessionMessage {
  info: Message
  parts: Part[]
}

/** Of OpenCode's own tools, or of the protocol of MCP. */
type ToolResult =
  | { title: string; output: string; metadata: Record<string, unknown> }
  | { content: readonly object[]; metadata?: Record<string, unknown> }

/** The output of a tool as the model reads it, and its metadata. */
export interface Called {
  /** Of the call. */
  readonly id: string
  readonly output: string
  readonly metadata: Readonly<Record<string, unknown>>
}

const model = { providerID: 'test', modelID: 'model' }

/**
 * A session of OpenCode 1.18.33 with one plugin: it keeps messages as OpenCode does, and runs the hooks at the moments and with
 * the objects that `packages/opencode/src/session` of that version does. The plugin is given the client of OpenCode's own SDK.
 */
export class OpenCodeSession {
  /** The messages that the plugin showed to the user. */
  readonly toasts: string[] = []
  readonly #messages: SessionMessage[] = []
  #hooks: Hooks = {}
  #count = 0

  private constructor(readonly id: string) {}

  static async start(plugin: Plugin, id: string, options: PluginOptions): Promise<OpenCodeSession> {
    const session = new OpenCodeSession(id)
    const client = createOpencodeClient({
      baseUrl: 'http://opencode.test',
      fetch: (request) => session.#answer(request),
    })
    const input = { client, directory: '/repo', worktree: '/repo', serverUrl: new URL('http://opencode.test') }
    session.#hooks = await plugin(input as unknown as PluginInput, options)
    return session
  }

  async prompt(text: string): Promise<void> {
    const info: UserMessage = { ...this.#message(), role: 'user', agent: 'build', model }
    // OpenCode adds the contents of files that a prompt names.
    const added = { ...this.#part(info.id), type: 'text' as const, text: 'Called the Read tool', synthetic: true }
    const parts: Part[] = [{ ...this.#part(info.id), type: 'text', text }, added]
    await this.#hooks['chat.message']?.({ sessionID: this.id, messageID: info.id }, { message: info, parts })
    this.#messages.push({ info, parts })
  }

  async say(text: string): Promise<void> {
    const { info, parts } = this.#reply()
    const part = this.#part(info.id)
    const output = { text }
    const ids = { sessionID: this.id, messageID: info.id, partID: part.id }
    await this.#hooks['experimental.text.complete']?.(ids, output)
    parts.push({ ...part, type: 'text', text: output.text, time: this.#time() })
  }

  /** @param blocks of a tool of an MCP server, in place of its text */
  async call(tool: string, input: Record<string, unknown>, text: string, blocks?: readonly object[]): Promise<Called> {
    const { info, parts } = this.#reply()
    const part = { ...this.#part(info.id), type: 'tool' as const, tool, callID: `call_${this.id}_${this.#count}` }
    const start = Date.now()
    const result: ToolResult =
      blocks === undefined ? { title: tool, output: text, metadata: { exit: 0 } } : { content: blocks }
    const ids = { tool, sessionID: this.id, callID: part.callID, args: input }
    await this.#hooks['tool.execute.after']?.(ids, result as never)
    const { output, metadata = {} } = 'content' in result ? ofServer(result) : result
    parts.push({
      ...part,
      state: { status: 'completed', input, output, metadata, title: tool, time: this.#time(start) },
    })
    return { id: part.callID, output, metadata }
  }

  /** The same events once more, as where a request was repeated. */
  async repeat(tool: string, input: Record<string, unknown>, text: string): Promise<Called> {
    this.#count--
    return await this.call(tool, input, text)
  }

  /** Runs no hook for the call, and publishes its part. */
  async fail(tool: string, input: Record<string, unknown>, error: string): Promise<void> {
    const { info, parts } = this.#reply()
    const state: ToolPart['state'] = { status: 'error', input, error, time: this.#time() }
    const part: Part = { ...this.#part(info.id), type: 'tool', tool, callID: `call_${this.id}_${this.#count}`, state }
    parts.push(part)
    await this.#hooks.event?.({ event: { type: 'message.part.updated', properties: { part } } })
  }

  /** The messages of the next request, which the plugin may change. */
  async request(): Promise<SessionMessage[]> {
    const last = this.#messages.findLastIndex(({ parts }) => parts.some(({ type }) => type === 'compaction'))
    const messages = structuredClone(this.#messages.slice(Math.max(0, last)))
    await this.#hooks['experimental.chat.messages.transform']?.({}, { messages })
    return messages
  }

  /** @returns what the plugin adds to the prompt of the summary */
  async compact(summary: string): Promise<string[]> {
    const asked: UserMessage = { ...this.#message(), role: 'user', agent: 'build', model }
    this.#messages.push({ info: asked, parts: [{ ...this.#part(asked.id), type: 'compaction', auto: true }] })
    const context: string[] = []
    await this.#hooks['experimental.session.compacting']?.({ sessionID: this.id }, { context })
    const messages = structuredClone(this.#messages)
    await this.#hooks['experimental.chat.messages.transform']?.({}, { messages })
    this.#messages.push({ info: { ...this.#assistant(asked.id), summary: true, mode: 'compaction' }, parts: [] })
    await this.say(summary)
    await this.#hooks.event?.({ event: { type: 'session.compacted', properties: { sessionID: this.id } } })
    return context
  }

  /** OpenCode leaves out the outputs of older calls. */
  clearOutputs(): void {
    for (const { parts } of this.#messages) {
      for (const part of parts) {
        if (part.type === 'tool' && part.state.status === 'completed') part.state.time.compacted = Date.now()
      }
    }
  }

  async remove(): Promise<void> {
    const info = { id: this.id } as never
    await this.#hooks.event?.({ event: { type: 'session.deleted', properties: { info } } })
    await this.#hooks.dispose?.()
  }

  /** The parts of OpenCode's own interface that the plugin uses. */
  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === `/session/${this.id}/message`) return Response.json(this.#messages)
    const { message } = (await request.json()) as { message: string }
    if (pathname === '/tui/show-toast') this.toasts.push(message)
    else if (pathname !== '/log') return new Response(null, { status: 404 })
    return Response.json(true)
  }

  #reply(): SessionMessage {
    const last = this.#messages.at(-1)
    if (last?.info.role === 'assistant') return last
    const reply = { info: this.#assistant(last?.info.id ?? ''), parts: [] }
    this.#messages.push(reply)
    return reply
  }

  #assistant(parentID: string): AssistantMessage {
    const tokens = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }
    const path = { cwd: '/repo', root: '/repo' }
    return { ...this.#message(), ...model, role: 'assistant', parentID, mode: 'build', path, cost: 0, tokens }
  }

  #message() {
    return { id: this.#next('msg'), sessionID: this.id, time: { created: Date.now() } }
  }

  #part(messageID: string) {
    return { id: this.#next('prt'), sessionID: this.id, messageID }
  }

  #time(start = Date.now()) {
    return { start, end: Date.now() }
  }

  #next(prefix: string): string {
    return `${prefix}_${this.id}_${String(++this.#count).padStart(6, '0')}`
  }
}

function ofServer({ content, metadata }: Extract<ToolResult, { content: unknown }>) {
  const texts = content.flatMap((block) => ('text' in block ? [String(block.text)] : []))
  return { output: texts.join('\n\n'), metadata }
}
