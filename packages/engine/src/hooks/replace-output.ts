import { OUTPUT_TOKENS_MAX_DEFAULT, STUB_TOKENS_MAX_DEFAULT } from '@heddle/contracts'
import {
  type CallEvent,
  countTokens,
  estimateTokens,
  type HookAnswer,
  importedMessageId,
  messageReference,
  NO_CHANGE,
  outputStub,
  resultIdentity,
  threadIdOf,
} from '@heddle/core'
import { loadMessage } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/** Longer texts are estimated: counting takes a second for four million characters. */
const COUNTED_CHARACTERS_MAX = 100_000
/** A note with the reference of a shorter output would be as long. */
const REFERRED_CHARACTERS_MIN = 200

interface ReplaceOptions {
  readonly outputTokensMax?: number | undefined
  readonly stubTokensMax?: number | undefined
}

/** A stub in place of an output that is too long, once its message is stored, and the reference of any other. */
export async function replaceOutput(
  { store, projectId }: EngineContext,
  event: CallEvent,
  { outputTokensMax = OUTPUT_TOKENS_MAX_DEFAULT, stubTokensMax = STUB_TOKENS_MAX_DEFAULT }: ReplaceOptions,
): Promise<HookAnswer> {
  const { text, wantsReference } = event
  // A token is one character at least.
  const replaceable = text.length > outputTokensMax ? event.replaceable : null
  if (replaceable === null && !(wantsReference && text.length >= REFERRED_CHARACTERS_MIN)) return NO_CHANGE
  const threadId = threadIdOf(projectId, event.thread)
  const id = importedMessageId(threadId, resultIdentity(event))
  const stored = await store.inProject(projectId, (tx) => loadMessage(tx, { threadId, id }))
  // Only what can be recalled is replaced.
  if (stored?.content !== text) return NO_CHANGE
  const reference = messageReference(stored.code)
  const unchanged = { ...NO_CHANGE, reference }
  if (replaceable === null) return unchanged
  const tokensBefore = text.length > COUNTED_CHARACTERS_MAX ? estimateTokens(text) : countTokens(text)
  if (tokensBefore <= outputTokensMax) return unchanged
  const tokensMax = Math.min(stubTokensMax, outputTokensMax)
  const stub = outputStub(replaceable, { reference, tokensBefore, tokensMax })
  if (stub.length >= text.length) return unchanged
  return { ...unchanged, stub: { text: stub, output: replaceable.replace(stub) } }
}
