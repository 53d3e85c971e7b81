import type { HooksClient } from '@heddle/client/interface'
import {
  claudeCodeEventSchema,
  codexEventSchema,
  type HookOptions,
  hookQuerySchema,
  openCodeEventSchema,
  parse,
} from '@heddle/contracts'
import {
  claudeCodeOutput,
  codexOutput,
  type HookAnswer,
  openCodeOutput,
  readClaudeCodeEvent,
  readCodexEvent,
  readOpenCodeEvent,
  type SessionEvent,
} from '@heddle/core'
import type { z } from 'zod'
import type { EngineContext } from '../setup/options.js'
import { ResumeTexts } from '../threads/resume-texts.js'
import { SessionHooks } from './session-hooks.js'

/** How the hooks of a program are read and answered. */
interface Dialect<Event, Output> {
  /** Of the process in its threads, and of its agent by default. */
  readonly name: string
  readonly schema: z.ZodType<Event>
  read(event: Event): SessionEvent
  output(answer: HookAnswer): Output
}

export function hooksClient(parts: EngineContext): HooksClient {
  const hooks = new SessionHooks(parts, new ResumeTexts(parts))
  /** @throws PermanentError `VALIDATION_ERROR`; RetryableError `TIMEOUT`, `RATE_LIMITED` or `SERVICE_UNAVAILABLE` */
  const hookOf =
    <Event, Output>({ name, schema, read, output }: Dialect<Event, Output>) =>
    async (given: Event, options: HookOptions = {}): Promise<Output> => {
      const event = read(parse(schema, given, 'event'))
      const { agent = name, ...limits } = parse(hookQuerySchema, options, 'options')
      return output(await hooks.answer(event, { program: name, agent, ...limits }))
    }
  return {
    claudeCode: hookOf({
      name: 'claude-code',
      schema: claudeCodeEventSchema,
      read: readClaudeCodeEvent,
      output: claudeCodeOutput,
    }),
    codex: hookOf({ name: 'codex', schema: codexEventSchema, read: readCodexEvent, output: codexOutput }),
    openCode: hookOf({
      name: 'opencode',
      schema: openCodeEventSchema,
      read: readOpenCodeEvent,
      output: openCodeOutput,
    }),
  }
}
