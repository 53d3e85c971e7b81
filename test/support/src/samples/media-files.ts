import { crc32, deflateSync } from 'node:zlib'

/** A PNG that any viewer opens. `note` stands in it as it is, so that the file can be found by it. */
export function pngFile(width: number, height: number, note = ''): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const rows = Buffer.alloc(height * (1 + width * 3))
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('tEXt', Buffer.from(`Comment\0${note}`)),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

function pngChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  const chunk = Buffer.alloc(named.length + 8)
  chunk.writeUInt32BE(data.length, 0)
  chunk.set(named, 4)
  chunk.writeUInt32BE(crc32(named) >>> 0, named.length + 4)
  return chunk
}

/** The header of a GIF; nothing is drawn. */
export function gifFile(width: number, height: number): Buffer {
  const header = Buffer.alloc(13)
  header.write('GIF89a')
  header.writeUInt16LE(width, 6)
  header.writeUInt16LE(height, 8)
  return header
}

/** The header of a JPEG with what a camera writes before its size. */
export function jpegFile(width: number, height: number): Buffer {
  const camera = Buffer.concat([Buffer.from('ffe10010', 'hex'), Buffer.alloc(14, 0xff)])
  const frame = Buffer.from('ffc0000b080000000003000000', 'hex')
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  return Buffer.concat([Buffer.from('ffd8', 'hex'), camera, frame, Buffer.from('ffd9', 'hex')])
}

/** The header of a WebP in one of its three kinds. */
export function webpFile(kind: 'VP8 ' | 'VP8L' | 'VP8X', width: number, height: number): Buffer {
  const file = Buffer.alloc(32)
  file.write('RIFF')
  file.write('WEBP', 8)
  file.write(kind, 12)
  if (kind === 'VP8 ') {
    file.writeUInt16LE(width, 26)
    file.writeUInt16LE(height, 28)
  } else if (kind === 'VP8L') file.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 21)
  else {
    file.writeUIntLE(width - 1, 24, 3)
    file.writeUIntLE(height - 1, 27, 3)
  }
  return file
}

/** Silence of so many seconds, 8,000 bytes each. */
export function wavFile(seconds: number): Buffer {
  const data = Math.round(seconds * 8_000)
  const file = Buffer.alloc(44 + data)
  file.write('RIFF')
  file.writeUInt32LE(36 + data, 4)
  file.write('WAVEfmt ', 8)
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(1, 22)
  file.writeUInt32LE(8_000, 24)
  file.writeUInt32LE(8_000, 28)
  file.write('data', 36)
  file.writeUInt32LE(data, 40)
  return file
}

/** A PDF whose pages are written openly. */
export function pdfFile(pages: number, note = ''): Buffer {
  const kids = Array.from({ length: pages }, (_, index) => `${index + 3} 0 R`).join(' ')
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages} >>`,
    ...Array.from({ length: pages }, () => '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>'),
  ]
  const body = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('')
  return Buffer.from(`%PDF-1.4\n% ${note}\n${body}trailer << /Root 1 0 R >>\n%%EOF\n`)
}
