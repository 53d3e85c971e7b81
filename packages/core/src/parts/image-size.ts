/** An image's size in pixels. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/**
 * The size in the header of a PNG, JPEG, GIF or WebP, whatever its media type claims; null for other bytes, truncated
 * files and files without a size. Only headers are read; nothing is decoded.
 */
export function imageSize(bytes: Uint8Array): ImageSize | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const size = sizeOfPng(view) ?? sizeOfGif(view) ?? sizeOfWebp(view) ?? sizeOfJpeg(view)
  return size === null || size.width < 1 || size.height < 1 ? null : size
}

const PNG_SIGNATURE = 0x89504e47
const PNG_HEADER = 'IHDR'

function sizeOfPng(view: DataView): ImageSize | null {
  if (view.byteLength < 24 || view.getUint32(0) !== PNG_SIGNATURE || textAt(view, 12, 4) !== PNG_HEADER) return null
  return { width: view.getUint32(16), height: view.getUint32(20) }
}

function sizeOfGif(view: DataView): ImageSize | null {
  if (view.byteLength < 10 || !['GIF87a', 'GIF89a'].includes(textAt(view, 0, 6))) return null
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) }
}

/** WebP has three kinds of first chunks: lossy, lossless, and extended. */
function sizeOfWebp(view: DataView): ImageSize | null {
  if (view.byteLength < 30 || textAt(view, 0, 4) !== 'RIFF' || textAt(view, 8, 4) !== 'WEBP') return null
  const uint24 = (at: number) => view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
  switch (textAt(view, 12, 4)) {
    case 'VP8 ':
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
    case 'VP8L': {
      const bits = view.getUint32(21, true)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { width: uint24(24) + 1, height: uint24(27) + 1 }
    default:
      return null
  }
}

/** Segments read before the one with the size; cameras write some dozens. */
const JPEG_SEGMENTS_MAX = 1_000

function sizeOfJpeg(view: DataView): ImageSize | null {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return null
  let at = 2
  for (let segment = 0; segment < JPEG_SEGMENTS_MAX && at + 9 <= view.byteLength; segment++) {
    if (view.getUint8(at) !== 0xff) return null
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      at++
      continue
    }
    if (isFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    const length = view.getUint16(at + 2)
    if (length < 2) return null
    at += 2 + length
  }
  return null
}

/** Start of frame, except for three other markers in the same range. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

function textAt(view: DataView, at: number, length: number): string {
  return String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at, length))
}
