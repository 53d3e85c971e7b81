/**
 * The texts of a stream, as they arrive; ending the iteration closes the stream.
 *
 * @throws the reason of the signal, once it aborts
 */
export async function* textsOf(response: Response, signal: AbortSignal): AsyncGenerator<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return
  const close = () => reader.cancel().catch(() => undefined)
  // The signal of the request does not suffice: Node 20 forgets it when the answer's object is collected as garbage, and the
  // stream would go on for ever.
  signal.addEventListener('abort', close, { once: true })
  try {
    while (!signal.aborted) {
      const { value, done } = await reader.read()
      if (done) break
      yield value
    }
    signal.throwIfAborted()
  } finally {
    signal.removeEventListener('abort', close)
    await close()
  }
}
