import { createHash } from 'node:crypto'

/** A call of a tool, in the names and inputs of Claude Code. */
export interface DemoCall {
  readonly name: string
  readonly input: Readonly<Record<string, string | number | boolean>>
}

export interface DemoResult {
  readonly content: string
  readonly isError: boolean
}

/** A session that is being recorded, in the form of Claude Code's own files: one JSON record per block and line. */
export interface Transcript {
  /** Messages so far: a turn of the assistant is one, whatever the number of its blocks; so is each result. */
  readonly messages: number
  readonly toolCalls: number
  readonly failedCalls: number
  ask(text: string): void
  /** @returns the ids of the calls, for {@link Transcript.answer} */
  act(text: string | null, calls: readonly DemoCall[]): string[]
  answer(callId: string, result: DemoResult): void
  toJsonLines(): string
}

/**
 * @param cwd the folder in which the agent works; the session's id and all others derive from it, so the same work in the
 * same folder gives the same ids
 */
export function createTranscript({ cwd, nowMs }: { cwd: string; nowMs: () => number }): Transcript {
  const lines: string[] = []
  const sessionId = derivedUuid(`session ${cwd}`)
  const counts = { messages: 0, toolCalls: 0, failedCalls: 0, assistantTurns: 0 }
  let parentUuid: string | null = null

  const record = (type: 'user' | 'assistant', message: object) => {
    const uuid = derivedUuid(`${sessionId} ${lines.length}`)
    const timestamp = new Date(nowMs()).toISOString()
    lines.push(JSON.stringify({ uuid, parentUuid, timestamp, type, sessionId, cwd, message }))
    parentUuid = uuid
  }

  return {
    get messages() {
      return counts.messages
    },
    get toolCalls() {
      return counts.toolCalls
    },
    get failedCalls() {
      return counts.failedCalls
    },
    ask(text) {
      counts.messages++
      record('user', { role: 'user', content: text })
    },
    act(text, calls) {
      counts.messages++
      counts.assistantTurns++
      const id = `msg_${digest(`${sessionId} turn ${counts.assistantTurns}`).slice(0, 24)}`
      const callIds = calls.map(() => `toolu_${digest(`${sessionId} call ${counts.toolCalls++}`).slice(0, 24)}`)
      const blocks = [
        ...(text === null ? [] : [{ type: 'text', text }]),
        ...calls.map((call, index) => ({ type: 'tool_use', id: callIds[index], name: call.name, input: call.input })),
      ]
      for (const block of blocks) {
        record('assistant', { role: 'assistant', id, model: 'heddle-demo-agent', content: [block], stop_reason: null })
      }
      return callIds
    },
    answer(callId, result) {
      counts.messages++
      if (result.isError) counts.failedCalls++
      const block = { tool_use_id: callId, type: 'tool_result', content: result.content, is_error: result.isError }
      record('user', { role: 'user', content: [block] })
    },
    toJsonLines() {
      return `${lines.join('\n')}\n`
    },
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** A UUID of version 8 (custom) whose bits come from a hash. */
function derivedUuid(text: string): string {
  const hex = digest(text)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
