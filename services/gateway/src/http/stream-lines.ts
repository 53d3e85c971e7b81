import { Readable } from 'node:stream'

/** Characters that are collected before they are sent: a line may have a few dozen, or megabytes. */
const CHUNK_CHARACTERS = 64 * 1024

/**
 * Streams lines as they are read. Each chunk is read in a slot of its project, which is released while the chunk is sent, so
 * a slow client does not block the project's other requests.
 *
 * @param inSlot runs work in a slot of the project
 * @throws the error of the first chunk, before anything is sent; a later error aborts the stream
 */
export async function streamLines(
  lines: AsyncIterable<string>,
  inSlot: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<Readable> {
  const iterator = lines[Symbol.asyncIterator]()
  const next = () => inSlot(() => nextChunk(iterator))
  const first = await next()
  async function* chunks(): AsyncGenerator<string> {
    try {
      for (let chunk = first; chunk !== ''; chunk = await next()) yield chunk
    } finally {
      await iterator.return?.()
    }
  }
  return Readable.from(chunks())
}

/** @returns an empty string at the end */
async function nextChunk(lines: AsyncIterator<string>): Promise<string> {
  let chunk = ''
  while (chunk.length < CHUNK_CHARACTERS) {
    const { value, done } = await lines.next()
    if (done) break
    chunk += value
  }
  return chunk
}
