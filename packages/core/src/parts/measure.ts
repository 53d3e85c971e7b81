import type { PartType, StoredPart } from '@heddle/contracts'
import { imageSize } from './image-size.js'

/** What the bytes of a part say about its size; what they do not say is left out. */
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
/** Of one page object; its list of pages is called `/Pages`. */
const PDF_PAGE = /\/Type\s{0,20}\/Page(?![A-Za-z])/g
const PDF_COUNT = /\/Count\s{1,20}(\d{1,7})/g

/**
 * Pages that are written openly: the page objects, or the count of their list where it says more. Null where neither stands
 * in the file, since newer files compress both, and for what is no PDF.
 */
function pagesOfPdf(bytes: Uint8Array): number | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  if (!text.slice(0, 1_024).includes(PDF_SIGNATURE)) return null
  let pages = 0
  for (const _ of text.matchAll(PDF_PAGE)) pages++
  for (const [, count] of text.matchAll(PDF_COUNT)) pages = Math.max(pages, Number(count))
  return pages === 0 ? null : pages
}

/** Chunks of a WAV file that are looked at. */
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
    // A file that was written while it was recorded may claim more than it holds.
    if (nameAt(at) === 'data')
      return bytesPerSecond === 0 ? null : Math.min(length, bytes.length - at - 8) / bytesPerSecond
    at += 8 + length + (length % 2)
  }
  return null
}
