import {
  type ClaudeCodeEvent,
  type ClaudeCodeHookOutput,
  OUTPUT_TOKENS_MAX_DEFAULT,
  STUB_TOKENS_MAX_DEFAULT,
} from '@heddle/contracts'
import {
  countTokens,
  estimateTokens,
  importedMessageId,
  isReadAgain,
  messageReference,
  outputStub,
  replaceableOutput,
  resultIdentity,
  threadIdOf,
} from '@heddle/core'
import { loadMessage } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/** Longer texts are estimated: counting takes a second for four million characters. */
const COUNTED_CHARACTERS_MAX = 100_000

interface ReplaceOptions {
  readonly thread: string
  readonly outputTokensMax?: number | undefined
  readonly stubTokensMax?: number | undefined
}

/** A stub in place of an output that is too long, once its message is stored; empty for any other output. */
export async function replaceOutput(
  { store, projectId }: EngineContext,
  event: Extract<ClaudeCodeEvent, { hook_event_name: 'PostToolUse' }>,
  { thread, outputTokensMax = OUTPUT_TOKENS_MAX_DEFAULT, stubTokensMax = STUB_TOKENS_MAX_DEFAULT }: ReplaceOptions,
): Promise<ClaudeCodeHookOutput> {
  const output = isReadAgain(event) ? null : replaceableOutput(event.tool_name, event.tool_response)
  // A token is one character at least.
  if (output === null || output.text.length <= outputTokensMax) return {}
  const { text } = output
  const tokensBefore = text.length > COUNTED_CHARACTERS_MAX ? estimateTokens(text) : countTokens(text)
  if (tokensBefore <= outputTokensMax) return {}
  const threadId = threadIdOf(projectId, thread)
  const id = importedMessageId(threadId, resultIdentity(event))
  const stored = await store.inProject(projectId, (tx) => loadMessage(tx, { threadId, id }))
  // Only what can be recalled is replaced.
  if (stored?.content !== text) return {}
  const reference = messageReference(stored.code)
  const stub = outputStub(output, { reference, tokensBefore, tokensMax: Math.min(stubTokensMax, outputTokensMax) })
  if (stub.length >= text.length) return {}
  return { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: output.replace(stub) } }
}
