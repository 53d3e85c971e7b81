import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Writes an embedding model of 200 KB that transformers.js loads offline like any other: every token has a fixed vector of
 * random signs, and a text is the mean of its tokens. So the cosine of two texts says how many words they share.
 *
 * @param folder the model's own folder: `<modelsDir>/<model>`
 */
export async function writeTinyModel(folder: string, dimensions = 384): Promise<void> {
  await mkdir(join(folder, 'onnx'), { recursive: true })
  const writeJson = (name: string, value: unknown) => writeFile(join(folder, name), JSON.stringify(value))
  await writeJson('config.json', { model_type: 'bert', hidden_size: dimensions, vocab_size: vocabulary.length })
  await writeJson('tokenizer_config.json', {
    tokenizer_class: 'BertTokenizer',
    model_max_length: 512,
    pad_token: '[PAD]',
  })
  await writeJson('tokenizer.json', tokenizer())
  await writeFile(join(folder, 'onnx', 'model_quantized.onnx'), lookUpModel(tokenVectors(dimensions), dimensions))
}

const special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
const pieces = [...'abcdefghijklmnopqrstuvwxyz0123456789']
/** Words that are one token; all others fall into letters. */
const words =
  `cat dog bird sat mat house tree river server database index query deploy deployment failed network timeout
  music guitar piano concert recipe bread butter oven user token login password the a on and of with`.split(/\s+/)
const vocabulary = [
  ...special,
  ...words.filter((word) => word.length > 1),
  ...pieces,
  ...pieces.map((piece) => `##${piece}`),
]

function tokenizer(): unknown {
  const id = (token: string) => vocabulary.indexOf(token)
  const bound = (token: string) => ({ SpecialToken: { id: token, type_id: 0 } })
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }
  return {
    version: '1.0',
    added_tokens: special.map((content) => ({ id: id(content), content, ...flags })),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [bound('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, bound('[SEP]')],
      pair: [],
      special_tokens: Object.fromEntries(
        ['[CLS]', '[SEP]'].map((token) => [token, { id: token, ids: [id(token)], tokens: [token] }]),
      ),
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(vocabulary.map((token, index) => [token, index])),
    },
  }
}

/** Words weigh most; the same signs on every run. */
function tokenVectors(dimensions: number): Float32Array {
  let state = 1
  const sign = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 31 ? 1 : -1
  }
  const weight = (token: string) => (special.includes(token) ? 0.05 : words.includes(token) ? 1 : 0.3)
  return Float32Array.from(
    vocabulary.flatMap((token) => Array.from({ length: dimensions }, () => sign() * weight(token))),
  )
}

/** An ONNX model of one node: `last_hidden_state = table[input_ids]`. Field numbers are those of onnx.proto. */
function lookUpModel(table: Float32Array, dimensions: number): Buffer {
  const [float, int64] = [1, 7]
  const shaped = (name: string, type: number, shape: readonly (string | number)[]) => {
    const dims = shape.map((size) => field(1, typeof size === 'number' ? field(1, size) : field(2, size)))
    return message(field(1, name), field(2, field(1, message(field(1, type), field(2, message(...dims))))))
  }
  const node = message(field(1, 'table'), field(1, 'input_ids'), field(2, 'last_hidden_state'), field(4, 'Gather'))
  const raw = Buffer.from(table.buffer, table.byteOffset, table.byteLength)
  const rows = table.length / dimensions
  const tensor = message(field(1, rows), field(1, dimensions), field(2, float), field(8, 'table'), field(9, raw))
  const graph = message(
    field(1, node),
    field(2, 'tiny'),
    field(5, tensor),
    field(11, shaped('input_ids', int64, ['batch', 'sequence'])),
    field(12, shaped('last_hidden_state', float, ['batch', 'sequence', dimensions])),
  )
  const [irVersion, opset] = [8, 14]
  return message(field(1, irVersion), field(7, graph), field(8, field(2, opset)))
}

/** A protobuf message is its fields, one after another. */
function message(...fields: readonly Buffer[]): Buffer {
  return Buffer.concat(fields)
}

/** A field is its number and wire type, then a number, or the length and bytes of a text or message. */
function field(number: number, value: number | string | Buffer): Buffer {
  if (typeof value === 'number') return Buffer.concat([varint(number << 3), varint(value)])
  const bytes = Buffer.from(value)
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest])
}
