import { resolve } from 'node:path'
import type { NewIteration } from '@heddle/client/interface'
import { iterationInputSchema, PermanentError, parse } from '@heddle/contracts'
import { canonicalJson, importedIterationId } from '@heddle/core'
import { readWholeFile } from './read-file.js'

/** A line without an id gets one from its content and position, so that adding a file again adds nothing. */
const lineSchema = iterationInputSchema.partial({ id: true })

/**
 * Iterations from a file of JSON lines, one per iteration, with fields in camel case (`cliUsed`) or snake case (`cli_used`).
 *
 * @throws PermanentError with the line and the field, before anything is stored
 */
export async function readIterations(
  path: string,
  { cwd, threadId }: { cwd: string; threadId: string },
): Promise<NewIteration[]> {
  const text = await readWholeFile(resolve(cwd, path))
  const iterations = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    const iteration = parse(lineSchema, readLine(line, index + 1), `line ${index + 1}`)
    const id = iteration.id ?? importedIterationId(threadId, `${index} ${canonicalJson(iteration)}`)
    return [{ ...iteration, id }]
  })
  if (iterations.length > 0) return iterations
  throw new PermanentError('VALIDATION_ERROR', `file: ${path} contains no iteration`, {
    field: 'file',
    received: path,
    hint: 'Give a file of JSON lines, each with at least a prompt and an output.',
  })
}

function readLine(line: string, lineNumber: number): unknown {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw new PermanentError('VALIDATION_ERROR', `line ${lineNumber}: is not JSON`, {
      field: `line ${lineNumber}`,
      hint: 'Each line is one JSON object; nothing was stored.',
      cause: error,
    })
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [inCamelCase(key), field]))
}

function inCamelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
