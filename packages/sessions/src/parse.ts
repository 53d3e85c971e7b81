import { bytesOf } from './byte-source.js'
import type { ParsedFile, ParsedMessage } from './parsed.js'
import { type ReadSessionOptions, readSession } from './session.js'

/**
 * Reads a recorded session from a text: all of it is checked before anything is returned.
 *
 * @param text the file's content
 * @throws PermanentError `VALIDATION_ERROR` or `PAYLOAD_TOO_LARGE`; its field names the place, such as `line 12`
 */
export function parseSession(text: string, options: ReadSessionOptions): ParsedFile {
  const looking = readSession(bytesOf(text), options)
  let looked = looking.next()
  while (looked.done !== true) looked = looking.next()
  const { format, threads, skipped, messages } = looked.value
  const messagesOf = new Map<number, ParsedMessage[]>(threads.map(({ number }) => [number, []]))
  for (const { thread, message } of messages()) messagesOf.get(thread)?.push(message)
  return {
    format,
    skipped: { ...skipped },
    threads: threads.map(({ number, suffix, toolCalls, toolResults }) => ({
      suffix,
      messages: messagesOf.get(number) ?? [],
      toolCalls,
      toolResults,
    })),
  }
}
