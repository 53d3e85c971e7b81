import { createCipheriv, createDecipheriv, createHash, randomBytes, scryptSync } from 'node:crypto'
import { PermanentError } from '@heddle/contracts'

/*
 * The file of a backup: a head, then chunks of at most CHUNK_BYTES, of which the last is marked. Each chunk is authenticated
 * together with the head, its number and its mark: a chunk that is changed, missing, moved or taken from another file is found, and
 * so is a file without its end. With a key it is AES-256-GCM; without one the tag is a checksum, which finds damage and no forgery.
 */

const MAGIC = Buffer.from('HEDDLEB1')
const SALT_BYTES = 16
const TAG_BYTES = 16
const CHUNK_BYTES = 1 << 20
/** Cost of a guess of the key: about a tenth of a second, and 64 MB. */
const SCRYPT = { N: 1 << 16, r: 8, p: 1, maxmem: 128 << 20 }

/** @param secret null writes the file without encryption */
export async function* sealChunks(parts: AsyncIterable<Uint8Array>, secret: string | null): AsyncGenerator<Buffer> {
  const salt = randomBytes(SALT_BYTES)
  const head = Buffer.concat([MAGIC, Buffer.from([secret === null ? 0 : 1]), salt])
  const key = secret === null ? null : keyOf(secret, salt)
  yield head
  let waiting: Buffer[] = []
  let size = 0
  let number = 0
  for await (const part of parts) {
    waiting.push(Buffer.from(part))
    size += part.length
    while (size > CHUNK_BYTES) {
      const all = Buffer.concat(waiting)
      yield sealed(all.subarray(0, CHUNK_BYTES), { key, head, number: number++, isLast: false })
      waiting = [all.subarray(CHUNK_BYTES)]
      size -= CHUNK_BYTES
    }
  }
  yield sealed(Buffer.concat(waiting), { key, head, number, isLast: true })
}

/**
 * @throws PermanentError `VALIDATION_ERROR` for a file that is damaged or not a backup; `UNAUTHORIZED` without its key, or with
 *   another one
 */
export async function* openChunks(file: AsyncIterable<Uint8Array>, secret: string | null): AsyncGenerator<Buffer> {
  const reader = new ExactReader(file)
  const head = await reader.read(MAGIC.length + 1 + SALT_BYTES)
  if (head === null || !head.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged('it does not begin as one')
  const isEncrypted = head[MAGIC.length] === 1
  if (!isEncrypted && head[MAGIC.length] !== 0) throw damaged('it is of an unknown kind')
  if (!isEncrypted && secret !== null) throw notEncrypted()
  if (isEncrypted && secret === null) throw needsKey('the backup is encrypted, and no key was given')
  const key = isEncrypted && secret !== null ? keyOf(secret, head.subarray(MAGIC.length + 1)) : null
  for (let number = 0; ; number++) {
    const mark = await reader.read(5)
    if (mark === null) throw damaged('it ends before its end')
    const isLast = mark[0] === 1
    const length = mark.readUInt32BE(1)
    const body = length > CHUNK_BYTES ? null : await reader.read(length + TAG_BYTES)
    if (body === null) throw damaged('it ends before its end')
    const content = opened(body.subarray(0, length), body.subarray(length), { key, head, number, isLast })
    if (content === null && isEncrypted && number === 0)
      throw needsKey('the key is not that of the backup, or the file is damaged')
    if (content === null) throw damaged(`its part ${number} was changed`)
    yield content
    if (!isLast) continue
    if ((await reader.read(1)) !== null) throw damaged('it goes on after its end')
    return
  }
}

interface Place {
  readonly key: Buffer | null
  readonly head: Buffer
  readonly number: number
  readonly isLast: boolean
}

function sealed(content: Buffer, { key, ...place }: Place): Buffer {
  const mark = Buffer.alloc(5)
  mark[0] = place.isLast ? 1 : 0
  mark.writeUInt32BE(content.length, 1)
  if (key === null) return Buffer.concat([mark, content, checksum(content, place)])
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(place.number))
  cipher.setAAD(associated(place))
  return Buffer.concat([mark, cipher.update(content), cipher.final(), cipher.getAuthTag()])
}

/** @returns null if the tag is not that of the content at this place */
function opened(content: Buffer, tag: Buffer, { key, ...place }: Place): Buffer | null {
  if (key === null) return checksum(content, place).equals(tag) ? content : null
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(place.number))
    decipher.setAAD(associated(place))
    decipher.setAuthTag(tag)
    return Buffer.concat([decipher.update(content), decipher.final()])
  } catch {
    return null
  }
}

/** The key is of one file alone, so the number of a chunk never repeats under it. */
function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32BE(number, 8)
  return nonce
}

function associated({ head, number, isLast }: Omit<Place, 'key'>): Buffer {
  const place = Buffer.alloc(5)
  place.writeUInt32BE(number)
  place[4] = isLast ? 1 : 0
  return Buffer.concat([head, place])
}

function checksum(content: Buffer, place: Omit<Place, 'key'>): Buffer {
  return createHash('sha256').update(associated(place)).update(content).digest().subarray(0, TAG_BYTES)
}

function keyOf(secret: string, salt: Buffer): Buffer {
  return scryptSync(secret, salt, 32, SCRYPT)
}

function damaged(why: string): PermanentError {
  return new PermanentError('VALIDATION_ERROR', `file: this is not a whole backup: ${why}`, { field: 'file' })
}

function needsKey(why: string): PermanentError {
  return new PermanentError('UNAUTHORIZED', `file: ${why}`, {
    field: 'key-file',
    hint: 'Give the key with --key-file, or in HEDDLE_BACKUP_KEY.',
  })
}

/** A key is a claim that nobody without it could have made the file. */
function notEncrypted(): PermanentError {
  return new PermanentError('VALIDATION_ERROR', 'file: the backup is not encrypted, and a key was given', {
    field: 'file',
    hint: 'If you trust the file, restore it without --key-file and HEDDLE_BACKUP_KEY.',
  })
}

/** Reads numbers of bytes from a stream of parts of any size. */
class ExactReader {
  readonly #parts: AsyncIterator<Uint8Array>
  #rest: Buffer = Buffer.alloc(0)

  constructor(parts: AsyncIterable<Uint8Array>) {
    this.#parts = parts[Symbol.asyncIterator]()
  }

  /** @returns null if fewer are left */
  async read(bytes: number): Promise<Buffer | null> {
    const gathered: Buffer[] = [this.#rest]
    let size = this.#rest.length
    while (size < bytes) {
      const { value, done } = await this.#parts.next()
      if (done === true) return null
      gathered.push(Buffer.from(value))
      size += value.length
    }
    const all = gathered.length === 1 ? this.#rest : Buffer.concat(gathered)
    this.#rest = all.subarray(bytes)
    return all.subarray(0, bytes)
  }
}
