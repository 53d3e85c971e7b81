import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OnnxGraph } from './onnx-graph.js'
import { writeTokenizer } from './tiny-model.js'

const [HIDDEN, HEADS, INTERMEDIATE, LAYERS, VOCABULARY, POSITIONS] = [384, 12, 1_536, 6, 30_522, 512]

/**
 * Writes a model of the shape of all-MiniLM-L6-v2, quantized like it: 23 MB of random weights, the same at every run. Its
 * results mean nothing, but its costs are real.
 *
 * @param folder the model's own folder: `<modelsDir>/<model>`
 */
export async function writeMiniLmShapedModel(folder: string): Promise<void> {
  await mkdir(join(folder, 'onnx'), { recursive: true })
  await writeTokenizer(folder)
  const config = { model_type: 'bert', hidden_size: HIDDEN, vocab_size: VOCABULARY, num_hidden_layers: LAYERS }
  await writeFile(join(folder, 'config.json'), JSON.stringify(config))
  await writeFile(join(folder, 'onnx', 'model_quantized.onnx'), encoder())
}

/** A BERT encoder: embeddings, then layers of attention and of two dense layers, each with a residual connection. */
function encoder(): Buffer {
  const graph = new OnnxGraph()
  const weights = new Weights(graph)
  const ids = ['input_ids', 'attention_mask', 'token_type_ids'] as const
  const mask = attentionMask(graph)
  const length = graph.op('Slice', [graph.op('Shape', ['input_ids']), graph.ints(1), graph.ints(2)])
  const table = weights.floats('positions', [POSITIONS, HIDDEN])
  const positions = graph.op('Slice', [table, graph.ints(0), length, graph.ints(0)])
  const words = weights.lookUp('words', VOCABULARY, 'input_ids')
  const tokens = graph.op('Add', [words, weights.lookUp('types', 2, 'token_type_ids')])
  let hidden = layerNorm(graph, weights, 'embeddings', graph.op('Add', [tokens, positions]))
  for (let layer = 0; layer < LAYERS; layer++) {
    const name = `layer.${layer}`
    const attended = attention(graph, weights, { name, hidden, mask })
    hidden = layerNorm(graph, weights, `${name}.attention`, graph.op('Add', [attended, hidden]))
    const inner = gelu(graph, weights.linear(`${name}.inner`, hidden, HIDDEN, INTERMEDIATE))
    const outer = weights.linear(`${name}.outer`, inner, INTERMEDIATE, HIDDEN)
    hidden = layerNorm(graph, weights, name, graph.op('Add', [outer, hidden]))
  }
  const shape = ['batch', 'sequence'] as const
  return graph.model(
    hidden,
    ids.map((name) => ({ name, type: 'int64', shape })),
    { name: 'last_hidden_state', type: 'float', shape: [...shape, HIDDEN] },
  )
}

/** Random constants, those of dense layers quantized with one scale each; the same for the same names. */
class Weights {
  readonly #graph: OnnxGraph
  /** Query, key and value share one quantization of their input. */
  readonly #quantizedInputs = new Set<string>()
  #state = 1

  constructor(graph: OnnxGraph) {
    this.#graph = graph
  }

  floats(name: string, dims: readonly number[], mean = 0): string {
    const size = dims.reduce((product, dim) => product * dim, 1)
    return this.#graph.tensor(
      name,
      dims,
      Float32Array.from({ length: size }, () => mean + this.#next()),
    )
  }

  lookUp(name: string, rows: number, ids: string): string {
    const found = this.#graph.op('Gather', [this.#bytes(name, [rows, HIDDEN]), ids])
    return this.#graph.op('DequantizeLinear', [found, this.#scale(), this.#zero()])
  }

  linear(name: string, input: string, from: number, to: number): string {
    const graph = this.#graph
    const weight = this.#bytes(`${name}.weight`, [from, to])
    const [quantized, scale, zero] = ['quantized', 'scale', 'zero'].map((part) => `${input}.${part}`) as [
      string,
      string,
      string,
    ]
    if (!this.#quantizedInputs.has(input)) {
      graph.op('DynamicQuantizeLinear', [input], {}, [quantized, scale, zero])
      this.#quantizedInputs.add(input)
    }
    const product = graph.op('MatMulInteger', [quantized, weight, zero, this.#zero()])
    const scales = graph.op('Mul', [scale, this.#scale()])
    const [FLOAT] = [1]
    const scaled = graph.op('Mul', [graph.op('Cast', [product], { to: FLOAT }), scales])
    return graph.op('Add', [scaled, this.floats(`${name}.bias`, [to])])
  }

  #bytes(name: string, dims: readonly [number, number]): string {
    const values = Int8Array.from({ length: dims[0] * dims[1] }, () => Math.round(this.#next() * (63 / 0.05)))
    return this.#graph.tensor(name, dims, values)
  }

  #scale(): string {
    return this.#graph.scalar(0.05 / 63)
  }

  #zero(): string {
    return this.#graph.tensor('zero_point', [], Int8Array.of(0))
  }

  /** From -0.05 to 0.05. */
  #next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return (this.#state / 2 ** 32 - 0.5) * 0.1
  }
}

/** Added to the scores of attention: 0 where a token counts, -10,000 where there is padding. */
function attentionMask(graph: OnnxGraph): string {
  const shaped = graph.op('Unsqueeze', [graph.op('Unsqueeze', ['attention_mask', graph.ints(1)]), graph.ints(2)])
  const padding = graph.op('Sub', [graph.scalar(1), graph.op('Cast', [shaped], { to: 1 })])
  return graph.op('Mul', [padding, graph.scalar(-10_000)])
}

function attention(
  graph: OnnxGraph,
  weights: Weights,
  { name, hidden, mask }: { name: string; hidden: string; mask: string },
): string {
  const perHead = graph.ints(0, 0, HEADS, HIDDEN / HEADS)
  const project = (part: string, perm: readonly number[]) => {
    const split = graph.op('Reshape', [weights.linear(`${name}.${part}`, hidden, HIDDEN, HIDDEN), perHead])
    return graph.op('Transpose', [split], { perm })
  }
  const query = project('query', [0, 2, 1, 3])
  const key = project('key', [0, 2, 3, 1])
  const value = project('value', [0, 2, 1, 3])
  const scores = graph.op('Div', [graph.op('MatMul', [query, key]), graph.scalar(Math.sqrt(HIDDEN / HEADS))])
  const shares = graph.op('Softmax', [graph.op('Add', [scores, mask])], { axis: -1 })
  const mixed = graph.op('Transpose', [graph.op('MatMul', [shares, value])], { perm: [0, 2, 1, 3] })
  return weights.linear(`${name}.output`, graph.op('Reshape', [mixed, graph.ints(0, 0, HIDDEN)]), HIDDEN, HIDDEN)
}

function layerNorm(graph: OnnxGraph, weights: Weights, name: string, input: string): string {
  const mean = (of: string) => graph.op('ReduceMean', [of], { axes: [-1], keepdims: 1 })
  const centered = graph.op('Sub', [input, mean(input)])
  const variance = mean(graph.op('Pow', [centered, graph.scalar(2)]))
  const deviation = graph.op('Sqrt', [graph.op('Add', [variance, graph.scalar(1e-12)])])
  const scaled = graph.op('Mul', [graph.op('Div', [centered, deviation]), weights.floats(`${name}.norm`, [HIDDEN], 1)])
  return graph.op('Add', [scaled, weights.floats(`${name}.shift`, [HIDDEN])])
}

function gelu(graph: OnnxGraph, input: string): string {
  const erf = graph.op('Erf', [graph.op('Div', [input, graph.scalar(Math.SQRT2)])])
  return graph.op('Mul', [graph.op('Mul', [input, graph.op('Add', [erf, graph.scalar(1)])]), graph.scalar(0.5)])
}
