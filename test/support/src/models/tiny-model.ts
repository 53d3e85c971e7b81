import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OnnxGraph } from './onnx-graph.js'

/**
 * Writes an embedding model of 200 KB that transformers.js loads offline like any other: every token has a fixed vector of
 * random signs, and a text is the mean of its tokens. So the cosine of two texts measures the share of common words.
 *
 * @param folder the model's own folder: `<modelsDir>/<model>`
 */
export async function writeTinyModel(folder: string, dimensions = 384): Promise<void> {
  await mkdir(join(folder, 'onnx'), { recursive: true })
  const config = { model_type: 'bert', hidden_size: dimensions, vocab_size: vocabulary.length }
  await writeFile(join(folder, 'config.json'), JSON.stringify(config))
  await writeTokenizer(folder)
  await writeFile(join(folder, 'onnx', 'model_quantized.onnx'), lookUpModel(tokenVectors(dimensions), dimensions))
}

/** The tokenizer of a small vocabulary: other words fall into letters. */
export async function writeTokenizer(folder: string): Promise<void> {
  const config = { tokenizer_class: 'BertTokenizer', model_max_length: 512, pad_token: '[PAD]' }
  await writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify(config))
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer()))
}

const special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
const pieces = [...'abcdefghijklmnopqrstuvwxyz0123456789']
/** Words that are one token; all others fall into letters. */
const words =
  `cat dog bird sat mat house tree river server database index query deploy deployment failed network timeout
  music guitar piano concert recipe bread butter oven user token login password the a on and of with`.split(/\s+/)
export const vocabulary = [
  ...special,
  ...words.filter((word) => word.length > 1),
  ...pieces,
  ...pieces.map((piece) => `##${piece}`),
]

function tokenizer(): unknown {
  const id = (token: string) => vocabulary.indexOf(token)
  const bound = (token: string) => ({ SpecialToken: { id: token, type_id: 0 } })
  const secondText = { Sequence: { id: 'B', type_id: 1 } }
  const secondEnd = { SpecialToken: { id: '[SEP]', type_id: 1 } }
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
      pair: [bound('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, bound('[SEP]'), secondText, secondEnd],
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
export function tokenVectors(dimensions: number): Float32Array {
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

/** An ONNX model of one look-up: `last_hidden_state = table[input_ids]`. */
function lookUpModel(table: Float32Array, dimensions: number): Buffer {
  const graph = new OnnxGraph()
  const rows = graph.tensor('table', [table.length / dimensions, dimensions], table)
  const shape = ['batch', 'sequence'] as const
  return graph.model(graph.op('Gather', [rows, 'input_ids']), [{ name: 'input_ids', type: 'int64', shape }], {
    name: 'last_hidden_state',
    type: 'float',
    shape: [...shape, dimensions],
  })
}
