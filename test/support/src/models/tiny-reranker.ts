import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OnnxGraph } from './onnx-graph.js'
import { tokenVectors, vocabulary, writeTokenizer } from './tiny-model.js'

const DIMENSIONS = 128
const FLOAT = 1

/**
 * Writes a cross-encoder that transformers.js loads offline like any other: its one value is about the number of pairs of
 * equal words in query and text.
 *
 * @param folder the model's own folder: `<modelsDir>/<model>`
 */
export async function writeTinyReranker(folder: string): Promise<void> {
  await mkdir(join(folder, 'onnx'), { recursive: true })
  const config = {
    model_type: 'bert',
    architectures: ['BertForSequenceClassification'],
    hidden_size: DIMENSIONS,
    vocab_size: vocabulary.length,
  }
  await writeFile(join(folder, 'config.json'), JSON.stringify(config))
  await writeTokenizer(folder)
  await writeFile(join(folder, 'onnx', 'model_quantized.onnx'), overlapModel())
}

/** `logits = sum(vectors of the first text) . sum(vectors of the second) / dimensions`. */
function overlapModel(): Buffer {
  const graph = new OnnxGraph()
  const vectors = graph.tensor('table', [vocabulary.length, DIMENSIONS], tokenVectors(DIMENSIONS))
  const tokens = graph.op('Gather', [vectors, 'input_ids'])
  const isRead = graph.op('Cast', ['attention_mask'], { to: FLOAT })
  const isSecond = graph.op('Mul', [graph.op('Cast', ['token_type_ids'], { to: FLOAT }), isRead])
  const isFirst = graph.op('Sub', [isRead, isSecond])
  const sumOf = (mask: string) => {
    const masked = graph.op('Mul', [tokens, graph.op('Unsqueeze', [mask, graph.ints(2)])])
    return graph.op('ReduceSum', [masked, graph.ints(1)], { keepdims: 0 })
  }
  const products = graph.op('Mul', [sumOf(isFirst), sumOf(isSecond)])
  const dot = graph.op('ReduceSum', [products, graph.ints(1)], { keepdims: 1 })
  const shape = ['batch', 'sequence'] as const
  const inputs = ['input_ids', 'attention_mask', 'token_type_ids'].map((name) => ({
    name,
    type: 'int64' as const,
    shape,
  }))
  return graph.model(graph.op('Mul', [dot, graph.scalar(1 / DIMENSIONS)]), inputs, {
    name: 'logits',
    type: 'float',
    shape: ['batch', 1],
  })
}
