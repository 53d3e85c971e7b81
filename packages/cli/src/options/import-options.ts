import type { CommonOptions } from '../connect/context.js'
import type { UrlOptions } from '../connect/with-remote.js'
import type { FormatOption } from './session-formats.js'

/** The options of `heddle import`. */
export interface ImportOptions extends CommonOptions, UrlOptions {
  readonly agent: string
  readonly thread?: string
  readonly format: FormatOption
  readonly rollingWindow?: number | 'none'
  readonly watch?: true
}
