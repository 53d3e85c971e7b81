import type { Checkout, Script } from './checkout.js'

interface Size {
  readonly files: number
  readonly lines: number
}

/** Lines and files of TypeScript for each area and for the whole checkout, with sources and tests apart. */
export function sizesOf({ scripts }: Checkout): readonly object[] {
  const areas = [...new Set(scripts.map(({ area }) => area))].toSorted()
  const sizeOf = (of: readonly Script[]) => ({
    sources: sum(of.filter(({ isTest }) => !isTest)),
    tests: sum(of.filter(({ isTest }) => isTest)),
  })
  return [
    ...areas.map((area) => ({ area, ...sizeOf(scripts.filter((script) => script.area === area)) })),
    { area: 'all', ...sizeOf(scripts), both: sum(scripts) },
  ]
}

/** The source with the most lines, and the folders with the most sources and with the most tests. */
export function largestOf({ scripts }: Checkout): readonly object[] {
  const sources = scripts.filter(({ isTest }) => !isTest)
  const [file] = sources.toSorted((one, other) => other.lines - one.lines)
  return [
    { path: file?.path, lines: file?.lines },
    { folder: 'of sources', ...mostFiles(sources) },
    { folder: 'of tests', ...mostFiles(scripts.filter(({ isTest }) => isTest)) },
  ]
}

function mostFiles(scripts: readonly Script[]): { path: string; files: number } {
  const counts = new Map<string, number>()
  for (const { folder } of scripts) counts.set(folder, (counts.get(folder) ?? 0) + 1)
  const [[path, files] = ['', 0]] = [...counts].toSorted(([, one], [, other]) => other - one)
  return { path, files }
}

function sum(scripts: readonly Script[]): Size {
  return { files: scripts.length, lines: scripts.reduce((total, { lines }) => total + lines, 0) }
}
