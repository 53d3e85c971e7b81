import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { PermanentError, RetryableError } from '@heddle/contracts'
import { type Clock, systemClock } from '@heddle/runtime'
import { checkModelName } from './local-models.js'

export interface PullModelOptions {
  /** A name on the hub, such as `Xenova/all-MiniLM-L6-v2`. */
  readonly model: string
  /** The folder that will hold `<model>/config.json`. */
  readonly folder: string
  /** `HF_ENDPOINT` is a mirror, `HF_TOKEN` a key; `HF_HUB_OFFLINE` and `TRANSFORMERS_OFFLINE` forbid downloads. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called with the bytes so far and the size of all files that were begun. */
  readonly onProgress?: (bytes: number, total: number) => void
  readonly signal?: AbortSignal
  readonly clock?: Pick<Clock, 'after'>
}

export interface PulledFile {
  readonly path: string
  readonly bytes: number
  /** Whether the file existed before. */
  readonly kept: boolean
}

const HUB = 'https://huggingface.co'

/** The weights come last: they are large, and useless without the other files. */
const FILES = [
  { path: 'config.json', isNeeded: true },
  { path: 'tokenizer.json', isNeeded: true },
  { path: 'tokenizer_config.json', isNeeded: true },
  { path: 'special_tokens_map.json', isNeeded: false },
  { path: 'onnx/model_quantized.onnx', isNeeded: true },
] as const

/** A connection without data for this long is closed, in milliseconds. */
const SILENCE_MS_MAX = 30_000
/** Larger than any supported model. */
const FILE_BYTES_MAX = 2_000_000_000

/**
 * Downloads a model's files into a folder. Each is written to a temporary file and then renamed, so that it is always
 * complete; existing files are kept.
 *
 * @throws PermanentError if downloads are forbidden, or the hub does not know the model; RetryableError if the hub cannot be
 *   reached
 */
export async function pullModel(options: PullModelOptions): Promise<PulledFile[]> {
  const { model, folder, env, onProgress } = options
  checkModelName(model)
  const offline = ['HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE'].find((name) => isOn(env[name]))
  if (offline !== undefined) throw mustStayOffline(model, folder, offline)
  const pulled: PulledFile[] = []
  let before = 0
  let total = 0
  for (const { path, isNeeded } of FILES) {
    const target = join(folder, model, path)
    const present = await sizeOf(target)
    if (present !== null) {
      pulled.push({ path: target, bytes: present, kept: true })
      continue
    }
    const onBytes = (bytes: number, of: number) => {
      total = Math.max(total, before + of)
      onProgress?.(before + bytes, total)
    }
    const bytes = await download(options, { path, target, isNeeded, onBytes })
    if (bytes === null) continue
    before += bytes
    pulled.push({ path: target, bytes, kept: false })
  }
  return pulled
}

interface Download {
  readonly path: string
  readonly target: string
  readonly isNeeded: boolean
  readonly onBytes: (bytes: number, of: number) => void
}

/** @returns the size, or null if the file is optional and the model does not have it */
async function download(options: PullModelOptions, { path, target, isNeeded, onBytes }: Download) {
  const { model, env, signal, clock = systemClock } = options
  const url = `${(env['HF_ENDPOINT']?.trim() || HUB).replace(/\/+$/, '')}/${model}/resolve/main/${path}`
  const silence = new AbortController()
  const hang = () => silence.abort(new Error(`no data for ${SILENCE_MS_MAX} ms`))
  let cancel = clock.after(SILENCE_MS_MAX, hang)
  const temporary = `${target}.part`
  try {
    const either = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal])
    const token = env['HF_TOKEN']?.trim()
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
    const response = await fetch(url, { signal: either, headers })
    if (response.status === 404 && !isNeeded) return null
    if (!response.ok || response.body === null) throw refused(model, url, response.status)
    const size = Number(response.headers.get('content-length') ?? 0)
    let bytes = 0
    const counted = new Transform({
      transform(part: Buffer, _encoding, pass) {
        bytes += part.length
        cancel()
        cancel = clock.after(SILENCE_MS_MAX, hang)
        onBytes(bytes, Math.max(size, bytes))
        pass(bytes > FILE_BYTES_MAX ? new Error(`it is larger than ${FILE_BYTES_MAX} bytes`) : null, part)
      },
    })
    await mkdir(dirname(target), { recursive: true })
    // Opened first: a stream that opens its file itself may do so after it has ended, and leave the file behind.
    const file = await open(temporary, 'w')
    await pipeline(Readable.fromWeb(response.body), counted, file.createWriteStream(), { signal: either })
    // The length of a compressed response is another one.
    if (size > 0 && bytes !== size && !response.headers.has('content-encoding')) {
      throw new Error(`the connection ended after ${bytes} of ${size} bytes`)
    }
    await rename(temporary, target)
    return bytes
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof PermanentError) throw error
    throw unreachable(model, url, silence.signal.aborted ? silence.signal.reason : error)
  } finally {
    cancel()
    await rm(temporary, { force: true })
  }
}

function isOn(value: string | undefined): boolean {
  return /^(1|on|yes|true)$/i.test(value?.trim() ?? '')
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch {
    return null
  }
}

const byHand = (model: string, folder: string) =>
  `On a machine with a network run "heddle models pull ${model}", and copy its folder to ${join(folder, model)}.`

function mustStayOffline(model: string, folder: string, variable: string): PermanentError {
  return new PermanentError('FORBIDDEN', `${variable} forbids downloads`, {
    field: variable,
    hint: byHand(model, folder),
  })
}

function refused(model: string, url: string, status: number): PermanentError {
  const isUnknown = status === 401 || status === 403 || status === 404
  return new PermanentError(isUnknown ? 'NOT_FOUND' : 'SERVICE_UNAVAILABLE', `${url} answered ${status}`, {
    field: 'model',
    received: model,
    hint: isUnknown
      ? 'Give a model of the hub that has onnx/model_quantized.onnx; a private one needs HF_TOKEN.'
      : 'Try again later, or set HF_ENDPOINT to a mirror.',
  })
}

function unreachable(model: string, url: string, cause: unknown): RetryableError {
  const { host } = new URL(url)
  const why = cause instanceof Error ? reasonOf(cause) : String(cause)
  return new RetryableError('SERVICE_UNAVAILABLE', `${model} could not be downloaded from ${host}: ${why}`, {
    cause,
    hint:
      'Check the network, or set HF_ENDPOINT to a mirror. Without a network: copy the folder of the model from another ' +
      'machine and set HEDDLE_MODELS, or use HEDDLE_EMBEDDER=hashing.',
  })
}

/** The message of `fetch` itself is only "fetch failed"; the reason is in its cause. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message || error.message : error.message
}
