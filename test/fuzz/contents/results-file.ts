import { appendFile, readFile, truncate } from 'node:fs/promises'
import { isMeasuredBusy, isWithinLimits, type ShapeRow, shapeRowSchema } from './shape-row.js'

/** Rows of several runs, one JSON object a line. A later row of a shape replaces an earlier one. */
export class ResultsFile {
  readonly #path: string
  readonly #rows: Map<string, ShapeRow>

  private constructor(path: string, rows: Map<string, ShapeRow>) {
    this.#path = path
    this.#rows = rows
  }

  /**
   * @param sizes of which rows count
   * @throws Error if a line is not a row; the last line may be incomplete, of a run that was killed
   */
  static async open(path: string, sizes: readonly number[]): Promise<ResultsFile> {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return ''
      throw error
    })
    const rows = new Map<string, ShapeRow>()
    const lines = text.split('\n')
    const incomplete = lines.pop() ?? ''
    for (const [index, line] of lines.entries()) {
      const row = readRow(line)
      if (row === null) throw new Error(`line ${index + 1} of ${path} is not a row of a shape`)
      const measured = Object.keys(row.settledMs)
      if (row.error !== null || sizes.every((size) => measured.includes(String(size)))) rows.set(row.shape, row)
    }
    if (incomplete !== '') await truncate(path, Buffer.byteLength(text) - Buffer.byteLength(incomplete))
    return new ResultsFile(path, rows)
  }

  get rows(): readonly ShapeRow[] {
    return [...this.#rows.values()]
  }

  /** Whether a shape needs no other run: a row above a limit counts only if the machine had nothing else to do. */
  isDone(shape: string): boolean {
    const row = this.#rows.get(shape)
    return row !== undefined && (isWithinLimits(row) || !isMeasuredBusy(row))
  }

  async add(row: ShapeRow): Promise<void> {
    await appendFile(this.#path, `${JSON.stringify(row)}\n`)
    this.#rows.set(row.shape, row)
  }
}

function readRow(line: string): ShapeRow | null {
  try {
    return shapeRowSchema.safeParse(JSON.parse(line)).data ?? null
  } catch {
    return null
  }
}
