import type { PartType, StoredPart } from '@heddle/contracts'
import { imageSize } from './image-size.js'

/** The size of a part according to its bytes; unknown fields are absent. */
export type Measured = Pick<StoredPart, 'width' | 'height' | 'pages' | 'seconds'>

export function measurePart(type: PartType, bytes: Uint8Array): Measured {
  switch (type) {
    case 'image':
      return imageSize(bytes) ?? {}
    case 'document': {
      const pages = pagesOfPdf(bytes)
      return pages === null ? {} : { pages }
    }
    case 'audio': {
      const seconds = secondsOfWav(bytes)
      return seconds === null ? {} : { seconds }
    }
  }
}

const PDF_SIGNATURE = '%PDF-'
/** Matches a page object; a list of pages has the type `/Pages`. */
const PDF_PAGE = /\/Type\s{0,20}\/Page(?![A-Za-z])/g
const PDF_COUNT = /\/Count\s{1,20}(\d{1,7})/g

/**
 * Number of pages in uncompressed structures: the page objects, or the count of their list if it is higher. Null if the
 * file has neither, since newer files compress both, and for other files.
 */
function pagesOfPdf(bytes: Uint8Array): number | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  if (!text.slice(0, 1_024).includes(PDF_SIGNATURE)) return null
  let pages = 0
  for (const _ of text.matchAll(PDF_PAGE)) pages++
  for (const [, count] of text.matchAll(PDF_COUNT)) pages = Math.max(pages, Number(count))
  return pages === 0 ? null : pages
}

/** Chunks of a WAV file that are read. */
const WAV_CHUNKS_MAX = 100

function secondsOfWav(bytes: Uint8Array): number | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const nameAt = (at: number) => Buffer.from(bytes.subarray(at, at + 4)).toString('latin1')
  if (bytes.length < 12 || nameAt(0) !== 'RIFF' || nameAt(8) !== 'WAVE') return null
  let bytesPerSecond = 0
  let at = 12
  for (let chunk = 0; chunk < WAV_CHUNKS_MAX && at + 8 <= bytes.length; chunk++) {
    const length = view.getUint32(at + 4, true)
    if (nameAt(at) === 'fmt ' && at + 20 <= bytes.length) bytesPerSecond = view.getUint32(at + 16, true)
    // A file captured while it was being recorded may claim more data than it has.
    if (nameAt(at) === 'data')
      return bytesPerSecond === 0 ? null : Math.min(length, bytes.length - at - 8) / bytesPerSecond
    at += 8 + length + (length % 2)
  }
  return null
}
