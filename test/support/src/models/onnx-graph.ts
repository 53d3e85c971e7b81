/**
 * Writes ONNX models without a library: protobuf is simple enough. Field numbers are those of onnx.proto; repeated numbers are
 * written unpacked, which every parser accepts.
 */

/** Opset 14 has no LayerNormalization or Gelu; onnxruntime fuses the spelled-out forms, as in models from PyTorch. */
const [IR_VERSION, OPSET] = [8, 14]
const [FLOAT, INT8, INT64] = [1, 3, 7]

export type TensorData = Float32Array | Int8Array | BigInt64Array

export interface Value {
  readonly name: string
  readonly type: 'float' | 'int64'
  readonly shape: readonly (string | number)[]
}

/** Collects nodes and constants. Each method that adds one returns its name. */
export class OnnxGraph {
  readonly #nodes: Buffer[] = []
  readonly #constants = new Map<string, Buffer>()

  /** A constant; without dimensions it is a scalar. Adding a name again refers to the first. */
  tensor(name: string, dims: readonly number[], data: TensorData): string {
    if (!this.#constants.has(name)) {
      const raw = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
      const type = data instanceof Float32Array ? FLOAT : data instanceof Int8Array ? INT8 : INT64
      const shape = dims.map((size) => field(1, size))
      this.#constants.set(name, message(...shape, field(2, type), field(8, name), field(9, raw)))
    }
    return name
  }

  scalar(value: number): string {
    return this.tensor(`scalar_${value}`, [], Float32Array.of(value))
  }

  ints(...values: readonly number[]): string {
    return this.tensor(`ints_${values.join('_')}`, [values.length], BigInt64Array.from(values, BigInt))
  }

  /** @returns the first of its outputs */
  op(
    type: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, number | readonly number[]>> = {},
    outputs: readonly string[] = [`${type}_${this.#nodes.length}`],
  ): string {
    const [INT, INTS] = [2, 7]
    const encoded = Object.entries(attributes).map(([key, value]) => {
      const values = typeof value === 'number' ? [field(3, value)] : value.map((each) => field(8, each))
      return field(5, message(field(1, key), ...values, field(20, typeof value === 'number' ? INT : INTS)))
    })
    this.#nodes.push(
      message(
        ...inputs.map((name) => field(1, name)),
        ...outputs.map((name) => field(2, name)),
        field(3, `node_${this.#nodes.length}`),
        field(4, type),
        ...encoded,
      ),
    )
    return outputs[0] ?? ''
  }

  /** The model's file; `result` gets the output's name. */
  model(result: string, inputs: readonly Value[], output: Value): Buffer {
    this.op('Identity', [result], {}, [output.name])
    const graph = message(
      ...this.#nodes.map((node) => field(1, node)),
      field(2, 'model'),
      ...[...this.#constants.values()].map((tensor) => field(5, tensor)),
      ...inputs.map((input) => field(11, described(input))),
      field(12, described(output)),
    )
    return message(field(1, IR_VERSION), field(7, graph), field(8, field(2, OPSET)))
  }
}

function described({ name, type, shape }: Value): Buffer {
  const dims = shape.map((size) => field(1, typeof size === 'number' ? field(1, size) : field(2, size)))
  const tensor = message(field(1, type === 'float' ? FLOAT : INT64), field(2, message(...dims)))
  return message(field(1, name), field(2, field(1, tensor)))
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

/** Negative numbers take ten bytes. */
function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}
