/** One event of a `text/event-stream` (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export interface ServerEvent {
  /** Its fields as received, with the empty line that ends it. */
  readonly raw: string
  /** Its data; empty for a comment. */
  readonly data: string
}

/** Longest event in memory; a longer one is an error of its sender. */
const EVENT_CHARACTERS_MAX = 32 * 1_024 * 1_024

/** Splits a stream into events, however its bytes are cut into chunks. */
export class ServerEventReader {
  readonly #decoder = new TextDecoder()
  /** The event that has not ended. It is joined once: a text that grows by each chunk would be copied with each. */
  #parts: string[] = []
  #characters = 0
  /** Its last characters, since its end may be cut in two. */
  #tail = ''

  /** @throws RangeError if an event is larger than 32 MiB */
  push(chunk: Uint8Array): ServerEvent[] {
    const text = this.#decoder.decode(chunk, { stream: true })
    const events: ServerEvent[] = []
    let from = 0
    for (;;) {
      const searched = this.#tail + text.slice(from)
      const found = END.exec(searched)
      if (found === null) break
      const to = from + found.index + found[0].length - this.#tail.length
      const raw = this.#parts.join('') + text.slice(from, to)
      events.push({ raw, data: dataOf(raw) })
      this.#parts = []
      this.#characters = 0
      this.#tail = ''
      from = to
    }
    const left = text.slice(from)
    this.#parts.push(left)
    this.#characters += left.length
    this.#tail = (this.#tail + left).slice(1 - END_CHARACTERS_MAX)
    if (this.#characters > EVENT_CHARACTERS_MAX) throw new RangeError('an event of the stream is too large')
    return events
  }

  /** The text after the last complete event, such as that of a stream that was cut off. */
  get rest(): string {
    return this.#parts.join('')
  }
}

/** The data of all events in a whole stream, in order; the last one may lack its empty line. */
export function dataIn(stream: Uint8Array): string[] {
  const reader = new ServerEventReader()
  const events = reader.push(stream)
  return [...events.map(({ data }) => data), dataOf(reader.rest)].filter((data) => data !== '')
}

/** An event ends with an empty line. */
const END = /\r\n\r\n|\n\n|\r\r/
const END_CHARACTERS_MAX = 4

function dataOf(raw: string): string {
  return raw
    .split(/\r\n|\n|\r/)
    .flatMap((line) => (line.startsWith('data:') ? [line.slice(line.startsWith('data: ') ? 6 : 5)] : []))
    .join('\n')
}
