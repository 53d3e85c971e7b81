import type { SummaryRequest } from '@heddle/core'

/** Puts messages into fewer words. What it returns is checked by its caller before it replaces anything. */
export interface Summarizer {
  /** Stored with each summary: `extractive`, or a provider and its model. */
  readonly name: string
  /** @throws the signal's reason once it is aborted; any other error leaves everything as it was and may be tried again */
  summarize(request: SummaryRequest, signal?: AbortSignal): Promise<string>
}
