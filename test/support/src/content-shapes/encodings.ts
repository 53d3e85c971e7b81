import { between, type ContentShapes, letters, pieces, repeated, scattered } from './grow.js'

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const HEX = '0123456789abcdef'
const BASE64_LINE = 76
const CONTROLS = 32

/** Encoded data, and characters that are no text. */
export const encodingShapes: ContentShapes = {
  base64: pieces((number) => letters(BASE64, BASE64_LINE, number)),
  'base64-lines': pieces((number) => `${letters(BASE64, BASE64_LINE, number)}\n`),
  'data-urls': pieces((number) => `data:image/png;base64,${letters(BASE64, 40, number)} `),
  'one-data-url': between(
    'data:image/png;base64,',
    pieces((number) => letters(BASE64, BASE64_LINE, number)),
  ),
  hex: pieces((number) => letters(HEX, BASE64_LINE, number)),
  'hex-bytes': pieces((number) => `${letters(HEX, 2, number)} `),
  hashes: pieces((number) => `${letters(HEX, 40, number)}\n`),
  uuids: pieces(
    (number) =>
      `${letters(HEX, 8, number)}-${letters(HEX, 4, number)}-7${letters(HEX, 3, number)}-a${letters(HEX, 3, number)}-${letters(HEX, 12, number)} `,
  ),
  'percent-encoded': pieces((number) => `%${letters(HEX, 2, number)}`),
  'escaped-units': pieces((number) => `\\u${letters(HEX, 4, number)}`),
  'high-surrogates': repeated('\ud83d'),
  'low-surrogates': repeated('\ude00'),
  'surrogates-beside-characters': repeated('\ud83d\ud83d\ude00'),
  'surrogates-between-letters': repeated('a\ud83d'),
  nul: repeated('\0'),
  'nul-between-letters': repeated('a\0'),
  controls: pieces((number) => String.fromCharCode(scattered(number) % CONTROLS)),
  ansi: pieces((number) => `\u001b[${30 + (number % 8)}m${number}\u001b[0m`),
  'ansi-opened': repeated('\u001b['),
  'ansi-lines': pieces((number) => `\u001b[2K\r\u001b[1m${number}%\u001b[22m\n`),
  'byte-order-marks': repeated('\ufeff'),
  'zero-width': repeated('\u200b'),
  'right-to-left-marks': repeated('\u202e'),
  'replacement-characters': repeated('\ufffd'),
  'outside-the-basic-plane': pieces((number) => String.fromCodePoint(0x20000 + (scattered(number) % 40_000))),
  'private-use': repeated('\ue000'),
}
