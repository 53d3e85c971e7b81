export type * from '@heddle/client/interface'
export * from '@heddle/engine'
export * from '@heddle/sessions'
