import { ByteReader, ByteWriter } from '../search/bytes.js'

/** The position of an embedded chunk. */
export interface ChunkPlace {
  /** The message's `seq`; 0 for an item, which has no messages. */
  readonly seq: number
  /** The range of the text, in characters. */
  readonly from: number
  readonly to: number
}

/** Places as bytes, five or six each. Concatenated byte strings are the concatenated lists. */
export function packPlaces(places: readonly ChunkPlace[]): Uint8Array {
  const writer = new ByteWriter()
  for (const { seq, from, to } of places) {
    writer.number(seq)
    writer.number(from)
    writer.number(to - from)
  }
  return writer.take()
}

export function unpackPlaces(bytes: Uint8Array): ChunkPlace[] {
  const reader = new ByteReader(bytes)
  const places: ChunkPlace[] = []
  while (!reader.isAtEnd) {
    const seq = reader.number()
    const from = reader.number()
    places.push({ seq, from, to: from + reader.number() })
  }
  return places
}
