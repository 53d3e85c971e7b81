import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, brotliDecompress, brotliDecompressSync, constants } from 'node:zlib'
import type { ContentBlocks } from '../schema/content-blocks.js'
import type { Columns } from '../schema/rows.js'
import { decodeText } from '../sql/text.js'

/**
 * Compression of archived contents. A long content is compressed in blocks, stored with their numbers of lines, so that a few
 * lines out of megabytes can be read from their blocks, without the rest of the row and of the text.
 */

const compress = promisify(brotliCompress)
const decompress = promisify(brotliDecompress)

/** Compressing at this quality takes less time than writing; higher qualities save a few percent and cost many times as much. */
const BROTLI_QUALITY = 5
/** Text of one block: small enough to be decompressed on the spot, large enough to cost no more than a few percent. */
const BLOCK_BYTES = 128 * 1024
/** The largest content that is stored in one piece. */
const WHOLE_BYTES_MAX = 2 * BLOCK_BYTES
/**
 * Up to here compressing takes less time than handing it to another thread and back, which costs ten times as much as a
 * result of a few hundred characters.
 */
const BYTES_COMPRESSED_AT_ONCE = 16 * 1024
/** Up to here decompressing takes less time than handing it to another thread and back. */
const BYTES_DECOMPRESSED_AT_ONCE = BLOCK_BYTES

/** Whether a content is stored in blocks. */
export function isSplit(text: Uint8Array): boolean {
  return text.length > WHOLE_BYTES_MAX
}

export interface PackedContent {
  readonly content: Buffer
  /** Null for a single piece. */
  readonly blocks: ContentBlocks | null
}

export async function packContent(text: Buffer): Promise<PackedContent> {
  if (!isSplit(text)) return { content: await compressed(text), blocks: null }
  const parts: Buffer[] = []
  const lengths: number[] = []
  const newlines: number[] = []
  for (let from = 0; from < text.length; ) {
    const block = text.subarray(from, characterStart(text, from + BLOCK_BYTES))
    const part = await compressed(block)
    parts.push(part)
    lengths.push(part.length)
    newlines.push(countNewlines(block))
    from += block.length
  }
  return { content: Buffer.concat(parts), blocks: { lengths, newlines, isOpen: text.at(-1) !== NEWLINE } }
}

/** Decompresses the whole content, and yields to the event loop between blocks. */
export async function unpackContent({
  content,
  sizeBytes,
  blocks,
}: Columns<'archiveContents', 'content' | 'sizeBytes' | 'blocks'>): Promise<string> {
  if (blocks === null) return decodeText(await decompressed(content, sizeBytes))
  return await unpackBlocks(content, blocks.lengths)
}

/** Decompresses consecutive blocks. */
export async function unpackBlocks(content: Uint8Array, lengths: readonly number[]): Promise<string> {
  const texts: string[] = []
  let from = 0
  for (const length of lengths) {
    if (from > 0) await setImmediate()
    texts.push(decodeText(await decompressed(content.subarray(from, from + length), BLOCK_BYTES)))
    from += length
  }
  return texts.join('')
}

export interface BlockRange {
  readonly lengths: readonly number[]
  /** Where the blocks lie in the compressed content, in bytes. */
  readonly offset: number
  readonly bytes: number
  /** Lines that end before them. */
  readonly linesBefore: number
  /** Lines of the whole content. */
  readonly linesTotal: number
}

/** The blocks that hold some lines, from the end of the line before them to the end of the last. */
export function blocksOfLines({ lengths, newlines, isOpen }: ContentBlocks, from: number, to: number): BlockRange {
  let [first, last, linesBefore, seen, offset, bytes] = [-1, lengths.length - 1, 0, 0, 0, 0]
  for (const [index, count] of newlines.entries()) {
    const length = lengths[index] ?? 0
    if (first === -1 && (seen + count >= from - 1 || index === newlines.length - 1)) {
      first = index
      linesBefore = seen
    }
    if (first === -1) offset += length
    else if (index <= last) bytes += length
    seen += count
    if (seen >= to) last = Math.min(last, index)
  }
  return {
    lengths: lengths.slice(first, last + 1),
    offset,
    bytes,
    linesBefore,
    linesTotal: seen + (isOpen ? 1 : 0),
  }
}

async function compressed(text: Uint8Array): Promise<Buffer> {
  const options = {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    },
  }
  return text.length <= BYTES_COMPRESSED_AT_ONCE ? brotliCompressSync(text, options) : await compress(text, options)
}

async function decompressed(content: Uint8Array, sizeBytes: number): Promise<Buffer> {
  // Output chunks as large as the text: with the default of 16 KB a megabyte takes three times as long.
  const options = { maxOutputLength: Math.max(sizeBytes, 1), chunkSize: Math.max(sizeBytes, 1_024) }
  return sizeBytes <= BYTES_DECOMPRESSED_AT_ONCE
    ? brotliDecompressSync(content, options)
    : await decompress(content, options)
}

const NEWLINE = 10

function countNewlines(text: Buffer): number {
  let count = 0
  for (let at = text.indexOf(NEWLINE); at !== -1; at = text.indexOf(NEWLINE, at + 1)) count++
  return count
}

/** The index of the first byte of the character that contains a byte. */
function characterStart(text: Uint8Array, place: number): number {
  if (place >= text.length) return text.length
  let at = place
  while (((text[at] ?? 0) & 0xc0) === 0x80) at--
  return at
}
