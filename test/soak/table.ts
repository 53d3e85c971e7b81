import type { Verdict } from './judge.js'
import type { OperationSample, ProcessSample, Sample } from './sample.js'

const MEGABYTE = 1_048_576
const OPERATIONS = ['append', 'build', 'build-other', 'search', 'recall']

export const tableHead = [
  'minute threads messages contexts | MiB resident/heap/external  loop p50/p99/max ms  of each process',
  '| MiB database, bytes a message, dead rows | connections | p50/p95/p99 ms of each operation | not begun, failed',
].join(' ')

export function tableRow({ minute, threads, skipped, processes, database, operations }: Sample): string {
  const { bytes, messages, contexts, connections, tables } = database
  const dead = tables.reduce((sum, { deadRows }) => sum + deadRows, 0)
  const failed = operations.reduce((sum, one) => sum + one.failed, 0)
  const perMessage = messages === 0 ? 0 : bytes / messages
  return [
    `${String(minute).padStart(3)} ${threads} ${messages} ${contexts}`,
    processes.map(processCell).join('  '),
    `${megabytes(bytes)} MiB, ${perMessage.toFixed(0)} B, ${dead} dead`,
    `${connections}`,
    OPERATIONS.flatMap((name) => operations.filter(({ operation }) => operation === name).map(operationCell)).join(
      '  ',
    ),
    `${skipped}, ${failed}`,
  ].join(' | ')
}

export function tableVerdict({ what, unit, from, to, max, pass }: Verdict): string {
  const number = (value: number) => value.toFixed(value < 100 ? 1 : 0)
  const bound = `(${number(max)} at most)`
  return `${pass ? 'ok  ' : 'FAIL'}  ${what}: ${number(from)} at first, ${number(to)} ${unit} then ${bound}`
}

function processCell(process: ProcessSample): string {
  const { name, residentBytes, heapUsedBytes, externalBytes } = process
  const delays = [process.loopDelayP50Ms, process.loopDelayP99Ms, process.loopDelayMaxMs]
  const memory = [residentBytes, heapUsedBytes, externalBytes].map(megabytes).join('/')
  return `${name} ${memory} ${delays.map((ms) => ms.toFixed(0)).join('/')}`
}

function operationCell({ operation, count, p50Ms, p95Ms, p99Ms }: OperationSample): string {
  return `${operation} ${count}: ${[p50Ms, p95Ms, p99Ms].map((ms) => ms.toFixed(0)).join('/')}`
}

function megabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(0)
}
