import type { Random } from './random.js'

/** Bytes that are not a request, or only a part of one, for a separate connection. */
export interface RawForm {
  readonly name: string
  readonly bytes: Buffer
  /** The sender ends its side of the connection. */
  readonly isCut: boolean
  /** Whether the server must answer. An incomplete request can be closed without an answer. */
  readonly isAnswered: boolean
}

const HOST = 'host: 127.0.0.1\r\n'
const POST = `POST /v1/recall HTTP/1.1\r\n${HOST}content-type: application/json\r\n`

/** Forms that every HTTP/1.1 server must refuse, or answer like the corrected form. */
const forms: Readonly<Record<string, (random: Random) => string>> = {
  nonsense: () => 'nonsense\r\n\r\n',
  noise: (random) => `${random.list(1, 400, () => String.fromCharCode(random.whole(0, 255))).join('')}\r\n\r\n`,
  version: (random) => `GET /healthz HTTP/${random.pick(['9.9', '0.9', '2.0', '1', 'x'])}\r\n${HOST}\r\n`,
  http2: () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  method: (random) => `${random.pick(['FOO', 'get', 'G ET', '\0', ' '])} /healthz HTTP/1.1\r\n${HOST}\r\n`,
  connect: () => `CONNECT 127.0.0.1:80 HTTP/1.1\r\n${HOST}\r\n`,
  absolute: () => `GET http://evil.example/v1/agents HTTP/1.1\r\n${HOST}\r\n`,
  asterisk: () => `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`,
  noHost: () => 'GET /v1/agents HTTP/1.1\r\n\r\n',
  twoHosts: () => `GET /v1/agents HTTP/1.1\r\n${HOST}host: evil.example\r\n\r\n`,
  old: () => 'GET /v1/agents HTTP/1.0\r\n\r\n',
  noColon: () => `GET /healthz HTTP/1.1\r\n${HOST}bad header\r\n\r\n`,
  badName: () => `GET /healthz HTTP/1.1\r\n${HOST}a b: c\r\n\r\n`,
  badValue: () => `GET /healthz HTTP/1.1\r\n${HOST}x: a\0b\r\n\r\n`,
  folded: () => `GET /healthz HTTP/1.1\r\n${HOST}x: a\r\n b\r\n\r\n`,
  manyHeaders: () => `GET /healthz HTTP/1.1\r\n${HOST}${'x: y\r\n'.repeat(1_500)}\r\n`,
  longHeader: (random) => `GET /healthz HTTP/1.1\r\n${HOST}x: ${'y'.repeat(random.whole(17_000, 60_000))}\r\n\r\n`,
  longPath: (random) => `GET /${'y'.repeat(random.whole(1_000, 40_000))} HTTP/1.1\r\n${HOST}\r\n`,
  bytesInPath: () => `GET /v1/agents/\xff\xfe HTTP/1.1\r\n${HOST}\r\n`,
  badLength: (random) => `${POST}content-length: ${random.pick(['x', '-1', '1e3', '0x10', '', '1 2'])}\r\n\r\n{}`,
  hugeLength: () => `${POST}content-length: 99999999999\r\n\r\n{`,
  twoLengths: () => `${POST}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`,
  bothLengths: () => `${POST}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  badChunk: (random) =>
    `${POST}transfer-encoding: chunked\r\n\r\n${random.pick(['zz', '-1', 'ffffffffffffffff1'])}\r\n`,
  badCoding: () => `${POST}transfer-encoding: gzip, x\r\n\r\n{}`,
  expect: (random) => `${POST}expect: ${random.pick(['x', '200-ok'])}\r\ncontent-length: 2\r\n\r\n{}`,
  continue: () => `${POST}expect: 100-continue\r\ncontent-length: 2\r\n\r\n{}`,
  upgrade: () => `GET /v1/agents HTTP/1.1\r\n${HOST}connection: upgrade\r\nupgrade: websocket\r\n\r\n`,
  // With `connection: close`, so that the server does not wait for more.
  lineFeeds: () => `GET /healthz HTTP/1.1\n${HOST.replace('\r', '')}connection: close\n\n`,
}

/** Bytes that are not a request; sometimes a valid one that is truncated. */
export function rawForm(random: Random, whole: Buffer): RawForm {
  if (random.oneIn(4)) {
    const bytes = whole.subarray(0, random.whole(0, whole.length - 1))
    return { name: 'cut', bytes, isCut: true, isAnswered: false }
  }
  const [name, make] = random.pick(Object.entries(forms))
  return { name, bytes: Buffer.from(make(random), 'latin1'), isCut: false, isAnswered: name !== 'noise' }
}
