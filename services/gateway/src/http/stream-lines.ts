import { Readable } from 'node:stream'

/** Characters that are gathered before they are sent: a line may be a few dozen, or megabytes. */
const CHUNK_CHARACTERS = 64 * 1024

/**
 * Streams lines as they are read. Each chunk is read in a slot of its project, which is free while the chunk is sent: a
 * reader that takes minutes holds up nothing else of the project.
 *
 * @param inSlot does some work within what the project may do at once
 * @throws what the first chunk fails with, before anything is sent; later ones break the stream off
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

/** @returns an empty text at the end */
async function nextChunk(lines: AsyncIterator<string>): Promise<string> {
  let chunk = ''
  while (chunk.length < CHUNK_CHARACTERS) {
    const { value, done } = await lines.next()
    if (done) break
    chunk += value
  }
  return chunk
}
