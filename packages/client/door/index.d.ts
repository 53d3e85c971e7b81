export * from '@heddle/client/connect'
export type * from '@heddle/client/interface'
// Re-exports the engine if it is installed. A program that uses only HTTP compiles without it.
// @ts-ignore
export * from '@heddle/engine'
// @ts-ignore
export * from '@heddle/sessions'
