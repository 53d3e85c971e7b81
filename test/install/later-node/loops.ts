import assert from 'node:assert/strict'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnNode } from '@heddle/test-support'
import type { LoopEnvironment } from '../../pipeline/adapters/loops/killed-loop.js'
import {
  LOOP_BUDGET,
  type LoopFigures,
  type MeasuredLoop,
  measureLoop,
} from '../../pipeline/adapters/loops/measure-loop.js'
import { compileProgram } from '../journeys.js'
import type { Project } from '../project.js'

const LOOPS = fileURLToPath(new URL('../../pipeline/adapters/loops/', import.meta.url))

export interface LoopProgram extends Omit<MeasuredLoop, 'start'> {
  /** A file of this repository; its name is that of the compiled program. */
  readonly program: string
}

/** The loops of `agent-loops.slow.test.ts`, with packages that are installed in a project. */
export async function runLoop(project: Project, { program, ...loop }: LoopProgram): Promise<LoopFigures> {
  await compileProgram(project, [program, join(LOOPS, 'loop-line.ts')], { checksDeclarations: false })
  const figures = await measureLoop({ ...loop, start: (env) => startProgram(project, program, env) })
  assert.deepEqual([figures.orphans, figures.lost], [[], []])
  // The budget counts what is said, without the names of fields that the JSON has.
  assert.ok(figures.withHeddle.tokensMax < LOOP_BUDGET * 1.5, JSON.stringify(figures.withHeddle))
  return figures
}

/** A program of the loops in this repository. */
export const loopProgram = (name: string) => join(LOOPS, `${name}.ts`)

export function startProgram({ folder, node, env: own }: Project, program: string, env: LoopEnvironment) {
  const name = program.replace(/^.*\//, '').replace(/\.ts$/, '.js')
  return spawnNode(join(folder, name), { node, cwd: folder, env: { ...own, ...env } })
}
