import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'

/** A TypeScript file of a checkout. */
export interface Script {
  readonly path: string
  /** `packages/core`, `services/prune` or `test/bench`: the first two folders of the path. */
  readonly area: string
  readonly folder: string
  /** Also true for the support code of tests, such as `test/support`. */
  readonly isTest: boolean
  readonly text: string
  readonly lines: number
  readonly syntax: ts.SourceFile
}

export interface Checkout {
  readonly root: string
  /** Every file that git tracks and that exists. */
  readonly paths: readonly string[]
  readonly scripts: readonly Script[]
  read(path: string): string
}

const BYTES_MAX = 64 * 1024 * 1024

export function openCheckout(folder: string): Checkout {
  const root = resolve(folder)
  const listed = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8', maxBuffer: BYTES_MAX })
  const paths = listed.split('\n').filter((path) => path !== '' && existsSync(join(root, path)))
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const scripts = paths.filter((path) => path.endsWith('.ts')).map((path) => parseScript(path, read(path)))
  return { root, paths, scripts, read }
}

export function parseScript(path: string, text: string): Script {
  return {
    path,
    area: path.split('/').slice(0, 2).join('/'),
    folder: dirname(path),
    isTest: !/^(packages|services)\//.test(path) || path.endsWith('.test.ts'),
    text,
    lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    syntax: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true),
  }
}

/** Sources of packages and services, without tests. */
export function sourcesOf({ scripts }: Checkout): readonly Script[] {
  return scripts.filter(({ isTest, area }) => !isTest && /^(packages|services)\//.test(area))
}
