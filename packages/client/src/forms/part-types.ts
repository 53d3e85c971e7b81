/** Of a kind that is kept unchanged. */
export interface OtherPart {
  readonly type: string
}

export interface TextPart {
  readonly type: 'text' | 'input_text' | 'output_text'
  readonly text: string
}

interface RefusalPart {
  readonly type: 'refusal'
  readonly refusal: string
}

export type Parts = string | readonly (TextPart | RefusalPart | OtherPart)[]
