/** The part of cli-progress that Heddle uses; the package ships no types. */
declare module 'cli-progress' {
  export interface BarOptions {
    format: string
    stream: NodeJS.WritableStream
    clearOnComplete: boolean
    hideCursor: boolean
    gracefulExit: boolean
    fps: number
  }

  export class SingleBar {
    constructor(options: BarOptions)
    start(total: number, startValue: number, payload: object): void
    update(current: number, payload: object): void
    setTotal(total: number): void
    stop(): void
  }
}
