export * from '@heddle/client/connect'
export type * from '@heddle/client/interface'
// What these export is here where they are installed. A program that uses HTTP alone compiles without them.
// @ts-ignore
export * from '@heddle/engine'
// @ts-ignore
export * from '@heddle/sessions'
