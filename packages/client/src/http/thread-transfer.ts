import { type ImportedThread, limits, PermanentError, RetryableError } from '@heddle/contracts'
import type { ImportThreadOptions } from '../interface/threads.js'
import type { CallOperation, requestOf } from './call.js'
import type { Transport } from './transport.js'

/**
 * The lines of an export, as the gateway reads them from its store.
 *
 * @param request of an operation whose last line is the closing record
 * @throws RetryableError `SERVICE_UNAVAILABLE` if the stream ends before the closing record
 */
export async function* exportOverHttp(
  transport: Transport,
  request: ReturnType<typeof requestOf>,
): AsyncGenerator<string> {
  let parts: string[] = []
  let last = ''
  for await (const text of await transport.open(request)) {
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      last = parts.join('') + text.slice(from, end + 1)
      parts = []
      from = end + 1
      yield last
    }
    parts.push(text.slice(from))
  }
  if (!last.startsWith('{"type":"end"')) {
    throw new RetryableError('SERVICE_UNAVAILABLE', 'the export was truncated', { hint: 'Export it again.' })
  }
}

/**
 * Sends the lines of an exported thread in one request, which the gateway checks as a whole before it stores anything.
 *
 * @throws PermanentError `PAYLOAD_TOO_LARGE` before anything is sent
 */
export async function importOverHttp(
  call: CallOperation,
  read: () => AsyncIterable<string>,
  { as, onProgress }: ImportThreadOptions = {},
): Promise<ImportedThread> {
  const lines: string[] = []
  let characters = 0
  for await (const line of read()) {
    const text = line.endsWith('\n') ? line : `${line}\n`
    lines.push(text)
    characters += text.length
    if (characters > limits.httpBodyBytesMax) throw tooLarge(characters)
  }
  const request = { query: { as }, body: lines.join(''), deadlineMs: limits.waitMsMax }
  const imported = (await call('importThread', request)).body
  onProgress?.(imported.messages)
  return imported
}

function tooLarge(characters: number): PermanentError {
  return new PermanentError('PAYLOAD_TOO_LARGE', `a thread over HTTP has at most ${limits.httpBodyBytesMax} bytes`, {
    field: 'file',
    received: `more than ${characters} characters`,
    hint: 'Import it on the machine of the store: heddle threads import FILE.',
  })
}
